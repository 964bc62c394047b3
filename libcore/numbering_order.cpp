#include "libcore/numbering_order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "libcore/error.h"
#include "libcore/numbering.h"
#include "libcore/regions.h"

namespace kasen {
namespace {

// Regions, and how many loops stand around each.
void find_epilogues(const Block& block, int loops, std::vector<std::pair<int, const Op*>>& found) {
  for (const Op& op : block.ops) {
    if (is_epilogue(op)) found.emplace_back(loops, &op);
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    for (const Block& inner : op.blocks) find_epilogues(inner, loops + (loop ? 1 : 0), found);
  }
}

// By length, descending, then by number: one sort of 64-bit keys.
void sort_window(std::span<const std::int64_t> lengths, std::span<std::int32_t> window,
                 std::vector<std::uint64_t>& keys) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  keys.clear();
  for (const std::int32_t master : window) {
    const std::int64_t length = std::clamp<std::int64_t>(lengths[static_cast<size_t>(master)], 0, most);
    keys.push_back(static_cast<std::uint64_t>(most - length) << 32U | static_cast<std::uint32_t>(master));
  }
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), window.begin(),
                 [](std::uint64_t key) { return static_cast<std::int32_t>(key & 0xffffffffU); });
}

}  // namespace

// Outside of loops an order is not worth its making.
std::vector<const Op*> ordering_regions(const Module& module, DimId dim) {
  std::vector<std::pair<int, const Op*>> found;
  find_epilogues(module.body, 0, found);
  std::erase_if(found, [&](const auto& entry) {
    const Type& rows = module.type(epilogue_product(*entry.second).results.at(0));
    return entry.first == 0 || cut_dim(module, rows) != dim;
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
  const DimId cut = cut_dim(module, type);
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

std::vector<std::int32_t> order_rows(std::span<const std::int64_t> lengths, std::span<const RowGroup> groups) {
  std::vector<std::int32_t> order;
  order.reserve(lengths.size());
  std::vector<std::uint64_t> keys;
  const auto window = static_cast<size_t>(order_window);
  for (const RowGroup group : {RowGroup::alone, RowGroup::reads_slaves, RowGroup::waits_elsewhere, RowGroup::waits}) {
    const size_t begin = order.size();
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] == group) order.push_back(static_cast<std::int32_t>(i));
    }
    for (size_t first = begin; first < order.size() && group != RowGroup::waits;) {
      const size_t next = std::min((first / window + 1) * window, order.size());
      sort_window(lengths, std::span(order).subspan(first, next - first), keys);
      first = next;
    }
  }
  return order;
}

}  // namespace kasen
