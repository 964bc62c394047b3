#include "libcore/local_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "libcore/error.h"

namespace kasen {
namespace {

constexpr std::int32_t absent = -1;

// Where each local index of one of the matrix's axes lies in a space. Slaves of both are grouped by owner, ascending
// within one, so that two merges find them all; those that the space lacks are `absent`.
std::vector<std::int32_t> place_axis(std::int64_t masters, const AxisSlaves& axis, const LocalSpace& space) {
  std::vector<std::int32_t> places(static_cast<size_t>(masters) + axis.slaves.size(), absent);
  std::iota(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(masters), 0);
  const std::vector<std::int64_t>& known = space.exchange.slaves;
  for (const PeerRange& from : axis.slave_owners) {
    const auto owner = std::find_if(space.exchange.slave_owners.begin(), space.exchange.slave_owners.end(),
                                    [&](const PeerRange& r) { return r.peer == from.peer; });
    if (owner == space.exchange.slave_owners.end()) continue;
    std::int64_t k = owner->begin;
    for (std::int64_t i = from.begin; i < from.end; ++i) {
      const std::int64_t wanted = axis.slaves.at(static_cast<size_t>(i));
      while (k < owner->end && known[static_cast<size_t>(k)] < wanted) ++k;
      if (k == owner->end || known[static_cast<size_t>(k)] != wanted) continue;
      places[static_cast<size_t>(masters + i)] = static_cast<std::int32_t>(masters + k);
    }
  }
  return places;
}

// Local indices of a space in ascending order of their global ones: masters and each owner's slaves ascend already.
std::vector<std::int32_t> ranks_by_global(const LocalSpace& space) {
  std::vector<std::int32_t> order(static_cast<size_t>(space.total));
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return space.global[static_cast<size_t>(a)] < space.global[static_cast<size_t>(b)];
  };
  auto middle = order.begin() + static_cast<std::ptrdiff_t>(space.masters);
  std::sort(middle, order.end(), before);
  std::inplace_merge(order.begin(), middle, order.end(), before);
  std::vector<std::int32_t> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[static_cast<size_t>(order[i])] = static_cast<std::int32_t>(i);
  return ranks;
}

struct Coordinates {
  std::vector<std::int32_t> input, output;  // of each entry, in the product's spaces
};

Coordinates place_entries(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                          const LocalSpace& result) {
  const LocalSpace& row_space = transposed ? result : operand;
  const LocalSpace& col_space = transposed ? operand : result;
  const auto rows = place_axis(row_space.masters, matrix.row_slaves, row_space);
  const auto cols = place_axis(col_space.masters, matrix.col_slaves, col_space);
  if (matrix.row_pointers.size() != rows.size() + 1) {
    fail(ExitStatus::bad_input, "a matrix part has another number of rows than its dimension and slaves give");
  }
  Coordinates at;
  at.input.reserve(matrix.columns.size());
  at.output.reserve(matrix.columns.size());
  for (size_t r = 0; r + 1 < matrix.row_pointers.size(); ++r) {
    for (std::int64_t e = matrix.row_pointers[r]; e < matrix.row_pointers[r + 1]; ++e) {
      const auto c = static_cast<size_t>(matrix.columns.at(static_cast<size_t>(e)));
      if (c >= cols.size() || cols[c] == absent || rows[r] == absent) {
        fail(ExitStatus::bad_input, fmt::format("entry {} of a matrix part lies outside the product's spaces", e));
      }
      at.input.push_back(transposed ? cols[c] : rows[r]);
      at.output.push_back(transposed ? rows[r] : cols[c]);
    }
  }
  return at;
}

void copy_values(const PartMatrix& matrix, const std::vector<std::int64_t>& entry_of, LocalMatrix& local) {
  if (matrix.element.bytes() == 0) return;
  local.values = Array(matrix.element, static_cast<std::int64_t>(entry_of.size()));
  for (std::int64_t p = 0; p < matrix.element.planes(); ++p) {
    const auto size = static_cast<size_t>(scalar_bytes(matrix.element.plane_scalar(p)));
    if (size == 0) continue;
    const std::byte* from = matrix.values.plane(p);
    std::byte* to = local.values.plane(p);
    for (size_t i = 0; i < entry_of.size(); ++i) {
      std::memcpy(to + i * size, from + static_cast<size_t>(entry_of[i]) * size, size);
    }
  }
}

// A stable counting sort of `entries` by key: two of them, by operand and then by output, order every output's entries.
std::vector<std::int64_t> sorted_by(const std::vector<std::int64_t>& entries, const std::vector<std::int32_t>& keys,
                                    const std::vector<std::int32_t>* ranks, std::int64_t count,
                                    std::vector<std::int64_t>& starts) {
  const auto key_of = [&](std::int64_t e) {
    const auto key = static_cast<size_t>(keys[static_cast<size_t>(e)]);
    return ranks == nullptr ? key : static_cast<size_t>((*ranks)[key]);
  };
  starts.assign(static_cast<size_t>(count) + 1, 0);
  for (const std::int64_t e : entries) ++starts[key_of(e) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
  std::vector<std::int64_t> sorted(entries.size());
  for (const std::int64_t e : entries) sorted[static_cast<size_t>(next[key_of(e)]++)] = e;
  return sorted;
}

}  // namespace

LocalMatrix make_local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                              const LocalSpace& result) {
  const Coordinates at = place_entries(matrix, transposed, operand, result);
  LocalMatrix local;
  local.outputs = result.total;
  local.inputs = operand.total;
  local.element = matrix.element;
  const std::vector<std::int32_t> ranks = ranks_by_global(operand);
  std::vector<std::int64_t> entries(at.input.size()), starts;
  std::iota(entries.begin(), entries.end(), 0);
  entries = sorted_by(entries, at.input, &ranks, operand.total, starts);
  entries = sorted_by(entries, at.output, nullptr, result.total, local.pointers);
  local.indices.reserve(entries.size());
  for (const std::int64_t e : entries) local.indices.push_back(at.input[static_cast<size_t>(e)]);
  copy_values(matrix, entries, local);
  return local;
}

}  // namespace kasen
