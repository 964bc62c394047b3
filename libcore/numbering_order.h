// The order of masters over which a product_epilogue region runs: rows that wait for no peer first, rows of like length
// side by side. Internal to the numbering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data.h"
#include "libcore/module.h"

namespace kasen {

// Entries that the row of each of `masters` masters meets on this part: of the matrix's columns (mxv), or of its rows
// (mxvt, `transposed`). UserError(bad_input) if the part has fewer rows than masters.
[[nodiscard]] std::vector<std::int64_t> row_lengths(const PartMatrix& matrix, bool transposed, size_t masters);

// What a master waits for: nothing in any region over its dimension; nothing in the one that orders it, but something
// in another; or its peers.
enum class Waits : std::uint8_t { never, elsewhere, here };

// The master at each place: first those that never wait, then those that wait elsewhere, each by descending
// length within windows that end at multiples of `order_window`, equal ones ascending; then the others, ascending.
[[nodiscard]] std::vector<std::int32_t> order_rows(std::span<const std::int64_t> lengths, std::span<const Waits> waits);

// The product_epilogue regions inside loops whose products give a vector over `dim`; first the one that orders it.
[[nodiscard]] std::vector<const Op*> ordering_regions(const Module& module, DimId dim);

}  // namespace kasen
