#include "libcore/kernels/numbering_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/numbering.h"
#include "libcore/stream/matrix_entries.h"

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
    const auto entries = static_cast<size_t>(matrix_.entries());
    const size_t stride = std::max<size_t>(1, std::min(groups / 8, entries / sample));
    seen_.assign(masters_ / inner + 1, 0);
    if (matrix_.on_disk != nullptr) take_sample(outer, groups, stride);
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
      for (const std::int32_t met : columns_of(row_at(i))) {
        const auto column = static_cast<size_t>(met);
        if (column >= masters_) continue;
        std::uint32_t& last = seen_[(place_.empty() ? column : static_cast<size_t>(place_[column])) / inner];
        found += last == round_ ? 0 : 1;
        last = round_;
      }
    }
    return found;
  }

  [[nodiscard]] size_t row_at(size_t position) const {
    return order_.empty() ? position : static_cast<size_t>(order_[position]);
  }

  [[nodiscard]] std::span<const std::int32_t> columns_of(size_t row) const {
    const auto begin = static_cast<size_t>(matrix_.row_pointers[row]);
    const auto end = static_cast<size_t>(matrix_.row_pointers[row + 1]);
    if (matrix_.on_disk != nullptr) return {sample_.data() + sample_at_[row], end - begin};
    const std::span<const std::int32_t> all(matrix_.columns);
    return all.subspan(begin, std::min(end, all.size()) - begin);
  }

  // The columns of the rows that will be looked at, from a disk.
  void take_sample(size_t outer, size_t groups, size_t stride) {
    constexpr std::int64_t wanted = 0, other = -1;
    sample_at_.assign(matrix_.row_pointers.size(), other);
    std::int64_t count = 0;
    for (size_t g = stride / 2; g < groups; g += stride) {
      for (size_t i = g * outer; i < std::min(masters_, (g + 1) * outer); ++i) {
        const size_t row = row_at(i);
        sample_at_[row] = wanted;
        count += matrix_.row_pointers[row + 1] - matrix_.row_pointers[row];
      }
    }
    sample_.clear();
    sample_.reserve(static_cast<size_t>(count));
    stream::MatrixEntries entries(matrix_, false);
    entries.each_of_rows(0, matrix_.entries(), [&](size_t row, std::int64_t begin, std::int64_t end) {
      if (sample_at_[row] == other) return;
      if (begin == matrix_.row_pointers[row]) sample_at_[row] = std::ssize(sample_);
      sample_.insert(sample_.end(), entries.columns() + begin, entries.columns() + end);
    });
  }

  const PartMatrix& matrix_;
  size_t masters_;
  std::span<const std::int32_t> order_;
  std::vector<std::int32_t> sample_;     // of a matrix on a disk: the columns of some rows
  std::vector<std::int64_t> sample_at_;  // where those of a row begin there
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
    const auto batches = static_cast<size_t>(std::max<std::int64_t>(matrix.batches, 1));
    const size_t rows = (matrix.row_pointers.size() - 1) / batches;
    for (size_t batch = 0; batch < batches; ++batch) {
      const std::int64_t* const first = matrix.row_pointers.data() + batch * rows;
      for (size_t row = 0; row < masters; ++row) lengths[row] += first[row + 1] - first[row];
    }
    return lengths;
  }
  if (matrix.on_disk != nullptr) {
    const std::vector<std::uint32_t>& counts = matrix.on_disk->in_column;
    std::copy_n(counts.begin(), std::min(masters, counts.size()), lengths.begin());
    return lengths;
  }
  for (const std::int32_t column : matrix.columns) {
    if (column >= 0 && static_cast<size_t>(column) < masters) ++lengths[static_cast<size_t>(column)];
  }
  return lengths;
}

std::vector<RowGroup> group_rows(const PartMatrix& matrix, bool transposed, size_t masters, size_t operands) {
  std::vector<RowGroup> groups(masters, RowGroup::alone);
  if ((transposed ? matrix.col_slaves : matrix.row_slaves).slaves.empty()) return groups;
  stream::MatrixEntries entries(matrix, false);
  const std::int64_t last = std::min(matrix.entries(), entries.count());
  const size_t rows = (matrix.row_pointers.size() - 1) / static_cast<size_t>(std::max<std::int64_t>(matrix.batches, 1));
  entries.each_of_rows(0, last, [&](size_t at, std::int64_t begin, std::int64_t end) {
    const size_t row = at % rows;
    for (std::int64_t e = begin; e < end; ++e) {
      const auto column = static_cast<size_t>(entries.columns()[e]);
      const size_t result = transposed ? row : column, operand = transposed ? column : row;
      if (operand >= operands && result < masters) groups[result] = RowGroup::reads_slaves;
    }
  });
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
