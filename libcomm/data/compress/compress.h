// Dense matrices by groups of columns (libcore/data/compressed.h): which columns go together, and in which format, is
// found by estimate from a sample of rows; then each group is made exactly, in whichever format takes least.
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

// `dense` has rows * cols scalars, row by row. Nothing where groups would take nine tenths of it or more. The same data
// give the same groups, and every cell keeps its bits.
[[nodiscard]] std::optional<CompressedArray> compress(const Array& dense, std::int64_t rows, std::int64_t cols);

// What became of one array of a program, over all parts.
struct CompressionReport {
  std::string array;
  std::int64_t columns = 0, dense_bytes = 0, bytes = 0;
  std::array<std::int64_t, 4> groups{};  // by GroupFormat, over all parts; none: the array stays as it is
};
[[nodiscard]] std::string report_text(const CompressionReport& report);

// Compresses the arrays that can be (two dimensions, the first cut and the second local; elements that are scalars) on
// all workers, or on none where all parts together do not get smaller by a tenth. A report for each that can be.
std::vector<CompressionReport> compress(std::vector<Part>& parts);

// Compressed arrays become dense ones, but for those that are named. UserError(limit) where memory does not suffice.
void expand(Part& part, const std::set<std::string>& kept = {});

}  // namespace kasen
