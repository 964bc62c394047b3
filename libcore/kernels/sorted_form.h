// The size of the second form of a matrix that generated kernels make for products in loops
// (libkernels/run/sorted_rows.h). It follows from sizes alone, so that `measure` predicts it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kasen {

// Rows longer than this run as segments, and of few segments most lanes of a slice would be idle.
[[nodiscard]] inline bool worth_sorting(std::int64_t entries, std::int64_t outputs) { return entries < 2048 * outputs; }

// Elements of 8 bytes of an operand that a core's second-level cache (1 to 2 MiB) keeps beside the matrix that passes
// by, and how many of them leave it alone.
inline constexpr std::int64_t operand_block = 98'304, whole_operand = 131'072;

// In how many blocks of its elements a product takes an operand of `inputs`: each block costs every row an access to
// its running sum, so that it has two entries a row at least.
[[nodiscard]] inline std::int64_t operand_blocks(std::int64_t inputs, std::int64_t outputs, std::int64_t entries) {
  if (inputs <= whole_operand || outputs == 0) return 1;
  return std::clamp<std::int64_t>(entries / (2 * outputs), 1, (inputs + operand_block - 1) / operand_block);
}

// Without the values: order and lengths of rows by block, indices.
[[nodiscard]] inline std::int64_t sorted_form_bytes(std::int64_t outputs, std::int64_t entries, std::int64_t blocks) {
  return 4 * outputs * blocks + 4 * entries;
}

}  // namespace kasen
