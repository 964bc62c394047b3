// Compresses dense matrices by groups of columns (libcore/data/compressed.h). A sample of rows gives estimates, which
// decide on the columns of each group and its format. Then each group is encoded exactly, in the smallest format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/data/compressed.h"
#include "libcore/data/data.h"

namespace kasen {

// `dense` has rows * cols scalars, row by row. Nothing if groups would take nine tenths of it or more. The same data
// give the same groups, and every cell keeps its bits.
[[nodiscard]] std::optional<CompressedArray> compress(const Array& dense, std::int64_t rows, std::int64_t cols);

// The result for one array of a program, over all parts.
struct CompressionReport {
  std::string array;
  std::int64_t columns = 0, dense_bytes = 0, bytes = 0;
  std::array<std::int64_t, 4> groups{};  // by GroupFormat, over all parts; none: the array stays as it is
};
[[nodiscard]] std::string report_text(const CompressionReport& report);

// Compresses all suitable arrays (two dimensions, the first cut and the second local; scalar elements) on all workers.
// If all parts together do not shrink by a tenth, it does so on none. Returns a report for each such array.
std::vector<CompressionReport> compress(std::vector<Part>& parts);

// Makes compressed arrays dense, except for the named ones. UserError(limit) if memory does not suffice.
void expand(Part& part, const std::set<std::string>& kept = {});

}  // namespace kasen
