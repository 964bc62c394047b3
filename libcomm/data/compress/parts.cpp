#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/compress/compress.h"
#include "libcomm/data/compress/steps.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

struct MatrixShape {
  std::int64_t rows = 0, cols = 0;
};

bool can_be_compressed(const Part& part, const PartArray& array) {
  const ElementType& element = array.data.element;
  return array.dims.size() == 2 && !part.dims.at(array.dims[0]).local && part.dims.at(array.dims[1]).local &&
         element.is_scalar() && scalar_bytes(element.scalar()) > 0 && !array.compressed;
}

MatrixShape matrix_shape(const Part& part, const PartArray& array) {
  return {std::ssize(part.dims.at(array.dims[0]).masters), part.dims.at(array.dims[1]).size};
}

// Includes the tables of its groups and columns.
std::int64_t all_bytes(const CompressedArray& array) {
  return array.stored_bytes() + 4 * std::ssize(array.columns) +
         static_cast<std::int64_t>(sizeof(ColumnGroup)) * std::ssize(array.groups);
}

void replace_data(PartArray& array, CompressedArray compressed, CompressionReport& report) {
  report.bytes += all_bytes(compressed);
  for (const ColumnGroup& group : compressed.groups) ++report.groups.at(static_cast<std::size_t>(group.format));
  array.compressed = std::move(compressed);
  array.data.count = 0;
  array.data.bytes = {};
}

CompressionReport compress_one(const std::string& name, std::vector<Part>& parts) {
  CompressionReport report{.array = name};
  std::vector<std::optional<CompressedArray>> made;
  std::int64_t bytes = 0;
  for (const Part& part : parts) {
    const PartArray& array = part.arrays.at(name);
    const auto [rows, cols] = matrix_shape(part, array);
    report.columns = cols;
    const std::int64_t dense = rows * cols * scalar_bytes(array.data.element.scalar());
    report.dense_bytes += dense;
    made.push_back(compress(array.data, rows, cols));
    bytes += made.back() ? all_bytes(*made.back()) : dense;
  }
  if (!is_worth_it(bytes, report.dense_bytes)) return report;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    PartArray& array = parts[p].arrays.at(name);
    const auto [rows, cols] = matrix_shape(parts[p], array);
    replace_data(array, made[p] ? std::move(*made[p]) : all_plain(array.data, rows, cols), report);
  }
  return report;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

std::string report_text(const CompressionReport& report) {
  static constexpr std::array<std::string_view, 4> names{"codes", "runs", "offsets", "plain"};
  std::string formats;
  std::int64_t groups = 0;
  for (std::size_t f = 0; f < names.size(); ++f) {
    groups += report.groups[f];
    if (report.groups[f] > 0)
      formats += fmt::format("{}{} {}", formats.empty() ? "" : ", ", report.groups[f], names[f]);
  }
  const std::string size = bytes_text(report.dense_bytes);
  if (groups == 0)
    return fmt::format("{}: {} stay as they are; compressed they would take about as much", report.array, size);
  return fmt::format("{}: {} in {} ({}) of {}: {}", report.array, size, count_text(groups, "group"), formats,
                     count_text(report.columns, "column"), bytes_text(report.bytes));
}

std::vector<CompressionReport> compress(std::vector<Part>& parts) {
  std::vector<CompressionReport> reports;
  if (parts.empty()) return reports;
  for (const auto& [name, array] : parts[0].arrays) {
    if (can_be_compressed(parts[0], array)) reports.push_back(compress_one(name, parts));
  }
  return reports;
}

void expand(Part& part, const std::set<std::string>& kept) {
  constexpr std::int64_t rows_of_a_piece = rows_of_a_segment / 4;
  for (auto& [name, array] : part.arrays) {
    if (!array.compressed || kept.contains(name)) continue;
    const CompressedArray& from = *array.compressed;
    Array dense(array.data.element, checked_mul(from.rows, from.cols, "an array's size"));
    const std::int64_t row_bytes = from.cols * scalar_bytes(from.scalar);
    parallel_for((from.rows + rows_of_a_piece - 1) / rows_of_a_piece, [&](std::int64_t piece, int) {
      const std::int64_t begin = piece * rows_of_a_piece, end = std::min(from.rows, begin + rows_of_a_piece);
      expand_rows(from, begin, end, dense.bytes.data() + begin * row_bytes);
    });
    array.data = std::move(dense);
    array.compressed.reset();
  }
}

}  // namespace kasen
