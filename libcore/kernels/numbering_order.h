// The order of owned elements over which a product_epilogue region runs: rows that wait for no peer first, rows of
// similar length side by side. Internal to the numbering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

// The number of nonzeros in the row of each of `masters` owned elements on this part. A row is a column of the matrix
// for mxv, a row for mxvt (`transposed`). UserError(bad_input) if the part has fewer rows than owned elements.
[[nodiscard]] std::vector<std::int64_t> row_lengths(const PartMatrix& matrix, bool transposed, size_t masters);

// Groups of owned elements' rows, in their order. First come rows that read only owned elements and wait for no peer,
// then rows that read ghosts. Rows that wait for peers in another region over the dimension follow, then those that
// wait here.
enum class RowGroup : std::uint8_t { alone, reads_slaves, waits_elsewhere, waits };

// alone or reads_slaves for each of `masters` owned elements; `operands` is the number of owned operand elements.
[[nodiscard]] std::vector<RowGroup> group_rows(const PartMatrix& matrix, bool transposed, size_t masters,
                                               size_t operands);

// How often a product's rows read each of `masters` owned elements as operand, on this part. It shows the hot elements.
[[nodiscard]] std::vector<std::int64_t> read_counts(const PartMatrix& matrix, bool transposed, size_t masters);

// The number of lines of eight owned elements that the rows of a sample of windows read. Each window counts a line
// once. `order[i]` is at position i as row and as operand (empty: owned elements ascend). It estimates the data that
// does not stay in a core's cache, and depends on the data alone.
[[nodiscard]] double lines_read(const PartMatrix& matrix, bool transposed, size_t masters,
                                std::span<const std::int32_t> order);

// The owned element at each position: group by group, each by descending length within windows that end at multiples of
// `order_window`. Equal lengths keep the order, and without `lengths` all do; waiting rows ascend. Before it is cut
// into windows, a group ascends, or with `reads` goes by descending reads: elements read most often are stored
// together.
[[nodiscard]] std::vector<std::int32_t> order_rows(std::span<const std::int64_t> lengths,
                                                   std::span<const RowGroup> groups,
                                                   std::span<const std::int64_t> reads = {});

// The product_epilogue regions inside loops whose products give a vector over `dim`; the one that orders it is first.
[[nodiscard]] std::vector<const Op*> ordering_regions(const Module& module, DimId dim);

}  // namespace kasen
