#include "libopt/cost/reach.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

constexpr std::int64_t line = 8;  // f64 in a line of the cache
constexpr double near_lines = near_span / 64;

// Reads by the time since the last read of the same line, in reads: bin b counts times of 2^b to 2^(b+1) - 1.
struct Reuse {
  std::array<std::int64_t, 64> times{};
  std::int64_t first = 0, all = 0;  // reads of lines that were not read before; all reads
};

Reuse reuse_of(std::span<const std::int32_t> read, std::int64_t indices) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> last(static_cast<size_t>(indices / line + 1), never);
  Reuse reuse;
  for (const std::int32_t index : read) {
    std::int64_t& before = last[static_cast<size_t>(index / line)];
    if (before == never)
      ++reuse.first;
    else
      ++reuse.times[static_cast<size_t>(std::bit_width(static_cast<std::uint64_t>(reuse.all - before)) - 1)];
    before = reuse.all++;
  }
  return reuse;
}

// The footprint of a time grows by the share of reads whose line was not read for that time.
double mean_logarithm(const Reuse& reuse) {
  const auto lines = static_cast<double>(reuse.first), all = static_cast<double>(reuse.all);
  double sum = lines * std::log(std::max(lines, near_lines));
  double footprint = 1, longer = all;  // of 2^bin reads; reads whose time is at least that
  for (size_t bin = 0; bin < reuse.times.size() && longer > lines; ++bin) {
    const auto here = static_cast<double>(reuse.times.at(bin));
    const double grown = std::min(lines, footprint + std::exp2(bin) * (longer - here / 2) / all);
    sum += here * std::log(std::max(std::sqrt(footprint * grown), near_lines));
    footprint = grown;
    longer -= here;
  }
  return sum / all;
}

// Of reads at random the distances are 0 to the number of lines, each as often.
double lines_of(double logarithm) {
  double low = near_lines, high = near_lines * 2;
  const auto mean = [](double lines) { return std::log(lines) - 1 + near_lines / lines; };
  while (mean(high) < logarithm) high *= 2;
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    (mean(middle) < logarithm ? low : high) = middle;
  }
  return low;
}

// The rows of the nonzeros, column by column.
std::vector<std::int32_t> rows_by_column(const PartMatrix& matrix, std::int64_t columns) {
  std::vector<std::int64_t> next(static_cast<size_t>(columns + 1));
  for (const std::int32_t column : matrix.columns) ++next[static_cast<size_t>(column) + 1];
  for (size_t column = 1; column < next.size(); ++column) next[column] += next[column - 1];
  std::vector<std::int32_t> rows(matrix.columns.size());
  // Batches have the same rows.
  const size_t all = matrix.row_pointers.size() - 1,
               batches = static_cast<size_t>(std::max<std::int64_t>(matrix.batches, 1));
  for (size_t row = 0; row < all; ++row) {
    for (auto k = matrix.row_pointers[row]; k < matrix.row_pointers[row + 1]; ++k) {
      rows[static_cast<size_t>(next[static_cast<size_t>(matrix.columns[static_cast<size_t>(k)])]++)] =
          static_cast<std::int32_t>(row % (all / batches));
    }
  }
  return rows;
}

}  // namespace

std::optional<SlaveAtom> axis_read(const Module& module, const Op& op) {
  if (!is_fold(op) && !(is_product(op) && is_sparse_product(module, op))) return std::nullopt;
  const ValueId matrix = product_matrix(op);
  return SlaveAtom{matrix_name(module, matrix), gives_rows(op) ? Axis::cols : Axis::rows};
}

std::set<SlaveAtom> axes_read(const Module& module) {
  std::set<SlaveAtom> axes;
  for_each_op(module, [&](const Op& op, int, int) {
    if (const auto axis = axis_read(module, op)) axes.insert(*axis);
  });
  return axes;
}

double reach_of(std::span<const std::int32_t> read, std::int64_t indices) {
  if (read.empty()) return 0;
  const double lines = lines_of(mean_logarithm(reuse_of(read, indices)));
  return std::min(lines * line, static_cast<double>(indices));
}

double reach_of(const Part& part, const PartMatrix& matrix, Axis axis) {
  const bool cols = axis == Axis::cols;
  const AxisSlaves& slaves = cols ? matrix.col_slaves : matrix.row_slaves;
  const PartDim& dim = part.dims.at(cols ? matrix.col_dim : matrix.row_dim);
  const auto indices = static_cast<std::int64_t>(dim.masters.size() + slaves.slaves.size());
  if (indices == 0) return 0;
  if (cols) return reach_of(matrix.columns, indices) / static_cast<double>(indices);
  const PartDim& columns = part.dims.at(matrix.col_dim);
  const auto count = static_cast<std::int64_t>(columns.masters.size() + matrix.col_slaves.slaves.size());
  return reach_of(rows_by_column(matrix, count), indices) / static_cast<double>(indices);
}

}  // namespace kasen
