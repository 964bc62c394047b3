#include "libcore/kernels/numbering_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/numbering.h"

namespace kasen {
namespace {

// Finds the regions, and the number of loops around each.
void find_epilogues(const Block& block, int loops, std::vector<std::pair<int, const Op*>>& found) {
  for (const Op& op : block.ops) {
    if (is_epilogue(op)) found.emplace_back(loops, &op);
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    for (const Block& inner : op.blocks) find_epilogues(inner, loops + (loop ? 1 : 0), found);
  }
}

// Sorts by descending count; equal ones keep their order. Small counts use counting sort, others a comparison sort.
void sort_descending(std::span<const std::int64_t> counts, std::span<std::int32_t> masters) {
  const auto count = [&](std::int32_t master) {
    return std::max<std::int64_t>(0, counts[static_cast<size_t>(master)]);
  };
  std::int64_t most = 0;
  for (const std::int32_t master : masters) most = std::max(most, count(master));
  if (most / 4 > std::ssize(masters) + 1024) {
    std::stable_sort(masters.begin(), masters.end(),
                     [&](std::int32_t a, std::int32_t b) { return count(a) > count(b); });
    return;
  }
  std::vector<std::uint32_t> next(static_cast<size_t>(most) + 2, 0);
  const auto slot = [&](std::int32_t master) { return static_cast<size_t>(most - count(master)); };
  for (const std::int32_t master : masters) ++next[slot(master) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::int32_t> before(masters.begin(), masters.end());
  for (const std::int32_t master : before) masters[next[slot(master)]++] = master;
}

// Lines of operands that windows of rows read. The matrix stores its nonzeros by row. If rows are the operands, each
// line is followed to the windows that read it; otherwise each window is followed to its lines. Both count pairs of a
// window and a line.
class LineCount {
 public:
  LineCount(const PartMatrix& matrix, size_t masters, std::span<const std::int32_t> order)
      : matrix_(matrix), masters_(masters), order_(order), place_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) place_[static_cast<size_t>(order[i])] = static_cast<std::int32_t>(i);
  }

  // `transposed`: rows of the matrix are rows of the product.
  [[nodiscard]] double count(bool transposed) {
    const size_t outer = transposed ? order_window : line, inner = transposed ? line : order_window;
    const size_t groups = (masters_ + outer - 1) / outer;
    const size_t entries = matrix_.columns.size();
    const size_t stride = std::max<size_t>(1, std::min(groups / 8, entries / sample));
    seen_.assign(masters_ / inner + 1, 0);
    double pairs = 0, taken = 0;
    for (size_t g = stride / 2; g < groups; g += stride) {
      ++taken;
      pairs += static_cast<double>(group(g, outer, inner));
    }
    return taken > 0 ? pairs * static_cast<double>(groups) / taken : 0;
  }

 private:
  static constexpr size_t line = 8;
  static constexpr size_t sample = size_t{1} << 19;  // nonzeros, about

  // The number of distinct groups of `inner` positions that group g of `outer` positions meets.
  std::int64_t group(size_t g, size_t outer, size_t inner) {
    ++round_;
    std::int64_t found = 0;
    for (size_t i = g * outer; i < std::min(masters_, (g + 1) * outer); ++i) {
      const auto row = order_.empty() ? i : static_cast<size_t>(order_[i]);
      const auto begin = static_cast<size_t>(matrix_.row_pointers[row]);
      const auto end = std::min(static_cast<size_t>(matrix_.row_pointers[row + 1]), matrix_.columns.size());
      for (size_t e = begin; e < end; ++e) {
        const auto column = static_cast<size_t>(matrix_.columns[e]);
        if (column >= masters_) continue;
        std::uint32_t& last = seen_[(place_.empty() ? column : static_cast<size_t>(place_[column])) / inner];
        found += last == round_ ? 0 : 1;
        last = round_;
      }
    }
    return found;
  }

  const PartMatrix& matrix_;
  size_t masters_;
  std::span<const std::int32_t> order_;
  std::vector<std::int32_t> place_;
  std::vector<std::uint32_t> seen_;  // by group: the last round that met it
  std::uint32_t round_ = 0;
};

}  // namespace

// Outside loops, an order is not worth the time to make it.
std::vector<const Op*> ordering_regions(const Module& module, DimId dim) {
  std::vector<std::pair<int, const Op*>> found;
  find_epilogues(module.body, 0, found);
  std::erase_if(found, [&](const auto& entry) {
    const Type& rows = module.type(epilogue_product(*entry.second).results.at(0));
    return entry.first == 0 || Layout(module, rows).cut() != dim;
  });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Op*> regions;
  for (const auto& [loops, region] : found) regions.push_back(region);
  return regions;
}

const Op* ordering_region(const Module& module, DimId dim) {
  const std::vector<const Op*> regions = ordering_regions(module, dim);
  return regions.empty() ? nullptr : regions.front();
}

bool is_reordered(const Module& module, ValueId input) {
  const Type& type = module.type(input);
  const DimId cut = Layout(module, type).cut();
  if (type.sparse || cut == no_dim || module.value(input).buffer != no_buffer) return false;
  return ordering_region(module, cut) != nullptr;
}

std::vector<std::int64_t> row_lengths(const PartMatrix& matrix, bool transposed, size_t masters) {
  std::vector<std::int64_t> lengths(masters, 0);
  if (transposed) {
    if (matrix.row_pointers.size() <= masters) {
      fail(ExitStatus::bad_input, "a matrix part has fewer rows than its dimension has masters",
           "its dimension and pointers do not agree", "partition the data again");
    }
    for (size_t row = 0; row < masters; ++row) lengths[row] = matrix.row_pointers[row + 1] - matrix.row_pointers[row];
    return lengths;
  }
  for (const std::int32_t column : matrix.columns) {
    if (column >= 0 && static_cast<size_t>(column) < masters) ++lengths[static_cast<size_t>(column)];
  }
  return lengths;
}

std::vector<RowGroup> group_rows(const PartMatrix& matrix, bool transposed, size_t masters, size_t operands) {
  std::vector<RowGroup> groups(masters, RowGroup::alone);
  const auto at = [](const auto& list, size_t i) { return static_cast<size_t>(list[i]); };
  for (size_t row = 0; row + 1 < matrix.row_pointers.size(); ++row) {
    const size_t end = std::min(at(matrix.row_pointers, row + 1), matrix.columns.size());
    for (size_t e = at(matrix.row_pointers, row); e < end; ++e) {
      const size_t column = at(matrix.columns, e);
      const size_t result = transposed ? row : column, operand = transposed ? column : row;
      if (operand >= operands && result < masters) groups[result] = RowGroup::reads_slaves;
    }
  }
  return groups;
}

std::vector<std::int64_t> read_counts(const PartMatrix& matrix, bool transposed, size_t masters) {
  return row_lengths(matrix, !transposed, masters);
}

double lines_read(const PartMatrix& matrix, bool transposed, size_t masters, std::span<const std::int32_t> order) {
  return LineCount(matrix, masters, order).count(transposed);
}

std::vector<std::int32_t> order_rows(std::span<const std::int64_t> lengths, std::span<const RowGroup> groups,
                                     std::span<const std::int64_t> reads) {
  std::vector<std::int32_t> order;
  order.reserve(groups.size());
  const auto window = static_cast<size_t>(order_window);
  for (const RowGroup group : {RowGroup::alone, RowGroup::reads_slaves, RowGroup::waits_elsewhere, RowGroup::waits}) {
    const size_t begin = order.size();
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] == group) order.push_back(static_cast<std::int32_t>(i));
    }
    if (!reads.empty()) sort_descending(reads, std::span(order).subspan(begin));
    for (size_t first = begin; first < order.size() && group != RowGroup::waits && !lengths.empty();) {
      const size_t next = std::min((first / window + 1) * window, order.size());
      sort_descending(lengths, std::span(order).subspan(first, next - first));
      first = next;
    }
  }
  return order;
}

}  // namespace kasen
