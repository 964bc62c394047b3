// The size of the second form of a matrix that generated kernels make for products in loops
// (libkernels/run/sorted_rows.h). It depends on sizes alone, so that `measure` can predict it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kasen {

// Longer rows run as segments. With few segments most lanes of a slice would be idle.
[[nodiscard]] inline bool worth_sorting(std::int64_t entries, std::int64_t outputs) { return entries < 2048 * outputs; }

// The number of 8-byte operand elements that a core's second-level cache (1 to 2 MiB) keeps while the matrix streams
// through. And the number up to which an operand needs no blocks.
inline constexpr std::int64_t operand_block = 98'304, whole_operand = 131'072;

// The number of blocks in which a product takes an operand of `inputs` elements. Each block costs every row an access
// to its running sum, so it has at least two nonzeros a row.
[[nodiscard]] inline std::int64_t operand_blocks(std::int64_t inputs, std::int64_t outputs, std::int64_t entries) {
  if (inputs <= whole_operand || outputs == 0) return 1;
  return std::clamp<std::int64_t>(entries / (2 * outputs), 1, (inputs + operand_block - 1) / operand_block);
}

// Bytes without the values: order and lengths of rows by block, and indices.
[[nodiscard]] inline std::int64_t sorted_form_bytes(std::int64_t outputs, std::int64_t entries, std::int64_t blocks) {
  return 4 * outputs * blocks + 4 * entries;
}

}  // namespace kasen
