// The order of masters over which a product_epilogue region runs: rows that wait for no peer first, rows of like length
// side by side. Internal to the numbering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

// Entries that the row of each of `masters` masters meets on this part: of the matrix's columns (mxv), or of its rows
// (mxvt, `transposed`). UserError(bad_input) if the part has fewer rows than masters.
[[nodiscard]] std::vector<std::int64_t> row_lengths(const PartMatrix& matrix, bool transposed, size_t masters);

// The rows of the masters, group by group: those that read masters alone and wait for nobody; those that read slaves;
// those that wait for peers in another region over the dimension; those that wait here.
enum class RowGroup : std::uint8_t { alone, reads_slaves, waits_elsewhere, waits };

// alone or reads_slaves for each of `masters` masters; `operands`: masters of the dimension that the product reads.
[[nodiscard]] std::vector<RowGroup> group_rows(const PartMatrix& matrix, bool transposed, size_t masters,
                                               size_t operands);

// How often the row of a product reads each of `masters` masters as its operand, on this part: what hot masters are.
[[nodiscard]] std::vector<std::int64_t> read_counts(const PartMatrix& matrix, bool transposed, size_t masters);

// Lines of eight masters that the rows of a sample of windows read, each window counting a line once, where
// `order[i]` stands at place i (empty: masters ascend) as row and as operand. A measure of what does not stay in a
// core's cache: it depends on the data alone.
[[nodiscard]] double lines_read(const PartMatrix& matrix, bool transposed, size_t masters,
                                std::span<const std::int32_t> order);

// The master at each place: group by group, each by descending length within windows that end at multiples of
// `order_window` (no `lengths`: as they stand), equal ones ascending; those that wait ascending. Before it is cut into
// windows, a group ascends, or, with `reads`, goes by descending reads: what is read most often lies together.
[[nodiscard]] std::vector<std::int32_t> order_rows(std::span<const std::int64_t> lengths,
                                                   std::span<const RowGroup> groups,
                                                   std::span<const std::int64_t> reads = {});

// The product_epilogue regions inside loops whose products give a vector over `dim`; first the one that orders it.
[[nodiscard]] std::vector<const Op*> ordering_regions(const Module& module, DimId dim);

}  // namespace kasen
