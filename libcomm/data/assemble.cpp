#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"

namespace kasen {
namespace {

constexpr std::int64_t piece = 1 << 18;  // entries that one thread takes at a time

// to[k] = from[order(k)] for elements of `bytes` bytes.
template <class Order>
void permute(std::byte* to, const std::byte* from, std::int64_t bytes, std::int64_t count, const Order& order) {
  const auto copy = [&](auto* target, const auto* source) {
    for (std::int64_t k = 0; k < count; ++k) target[k] = source[order(k)];
  };
  if (bytes == 8) copy(reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from));
  if (bytes == 4) copy(reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(from));
  if (bytes == 1) copy(to, from);
}

// Entries by worker, each worker's in the order of the input. Worker w has entries begin[w] to begin[w + 1].
struct CutEntries {
  Entries entries;
  std::vector<std::int64_t> begin;
};

// Where each piece puts its next entry of each worker: a stable counting sort in parallel.
std::vector<std::vector<std::int64_t>> count_by_piece(const Entries& entries, const EntryRule& rule, int workers) {
  const auto total = static_cast<std::int64_t>(entries.rows.size());
  std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>((total + piece - 1) / piece));
  parallel_for(static_cast<std::int64_t>(next.size()), [&](std::int64_t p, int) {
    auto& counts = next[static_cast<std::size_t>(p)];
    counts.assign(static_cast<std::size_t>(workers), 0);
    for (std::int64_t k = p * piece; k < std::min(total, (p + 1) * piece); ++k) {
      const auto at = static_cast<std::size_t>(k);
      ++counts[static_cast<std::size_t>(rule.worker(entries.rows[at], entries.cols[at]))];
    }
  });
  return next;
}

CutEntries cut_entries(Entries&& from, const EntryRule& rule, int workers) {
  Entries entries = std::move(from);
  const auto total = static_cast<std::int64_t>(entries.rows.size());
  if (workers == 1) return {std::move(entries), {0, total}};
  std::vector<std::vector<std::int64_t>> next = count_by_piece(entries, rule, workers);
  CutEntries cut;
  cut.begin.push_back(0);
  for (std::size_t w = 0; w < static_cast<std::size_t>(workers); ++w) {
    std::int64_t end = cut.begin.back();
    for (auto& counts : next) end += std::exchange(counts[w], end);
    cut.begin.push_back(end);
  }
  cut.entries.rows.resize(entries.rows.size());
  cut.entries.cols.resize(entries.cols.size());
  const ElementType& element = entries.values.element;
  const bool valued = entries.values.count > 0;
  if (valued) cut.entries.values = Array(element, total);
  parallel_for(static_cast<std::int64_t>(next.size()), [&](std::int64_t p, int) {
    auto& counts = next[static_cast<std::size_t>(p)];
    for (std::int64_t k = p * piece; k < std::min(total, (p + 1) * piece); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const std::int64_t to = counts[static_cast<std::size_t>(rule.worker(entries.rows[at], entries.cols[at]))]++;
      cut.entries.rows[static_cast<std::size_t>(to)] = entries.rows[at];
      cut.entries.cols[static_cast<std::size_t>(to)] = entries.cols[at];
      for (std::int64_t q = 0; valued && q < element.planes(); ++q) {
        const auto bytes = static_cast<std::size_t>(scalar_bytes(element.plane_scalar(q)));
        std::memcpy(cut.entries.values.plane(q) + static_cast<std::size_t>(to) * bytes,
                    entries.values.plane(q) + at * bytes, bytes);
      }
    }
  });
  return cut;
}

// Where each key's run begins, and the end: size + 1 numbers.
std::vector<std::int64_t> pointers_of(const std::int32_t* keys, std::int64_t count, std::int64_t size) {
  std::vector<std::int64_t> pointers(static_cast<std::size_t>(size + 1));
  for (std::int64_t k = 0; k < count; ++k) ++pointers[static_cast<std::size_t>(keys[k]) + 1];
  for (std::size_t i = 1; i < pointers.size(); ++i) pointers[i] += pointers[i - 1];
  return pointers;
}

// Sorts each row's columns. With values, `order` says which entry each column came from, and follows.
void sort_rows(std::vector<std::int32_t>& columns, const std::vector<std::int64_t>& pointers,
               std::vector<std::uint32_t>& order) {
  std::vector<std::uint64_t> pairs;
  for (std::size_t r = 0; r + 1 < pointers.size(); ++r) {
    const auto begin = static_cast<std::size_t>(pointers[r]), end = static_cast<std::size_t>(pointers[r + 1]);
    const auto first = columns.begin() + pointers[r], last = columns.begin() + pointers[r + 1];
    if (std::is_sorted(first, last)) continue;
    if (order.empty()) {
      std::sort(first, last);
      continue;
    }
    pairs.clear();
    for (std::size_t k = begin; k < end; ++k) pairs.push_back(static_cast<std::uint64_t>(columns[k]) << 32 | order[k]);
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t k = begin; k < end; ++k) {
      columns[k] = static_cast<std::int32_t>(pairs[k - begin] >> 32);
      order[k] = static_cast<std::uint32_t>(pairs[k - begin]);
    }
  }
}

// Compressed rows from local indices. Inputs are mostly sorted by row, so that this walks through memory in order.
void compress(PartMatrix& matrix, const std::int32_t* rows, const std::int32_t* cols, std::int64_t count,
              std::int64_t row_total, const Array& values, std::int64_t first_value) {
  matrix.row_pointers = pointers_of(rows, count, row_total);
  matrix.columns.resize(static_cast<std::size_t>(count));
  std::vector<std::uint32_t> order(values.count > 0 ? matrix.columns.size() : 0);
  std::vector<std::int64_t> next = matrix.row_pointers;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(rows[k])]++);
    matrix.columns[to] = cols[k];
    if (!order.empty()) order[to] = static_cast<std::uint32_t>(k);
  }
  sort_rows(matrix.columns, matrix.row_pointers, order);
  if (values.count == 0) return;
  matrix.values = Array(values.element, count);
  for (std::int64_t q = 0; q < values.element.planes(); ++q) {
    const std::int64_t bytes = scalar_bytes(values.element.plane_scalar(q));
    permute(matrix.values.plane(q), values.plane(q) + first_value * bytes, bytes, count,
            [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; });
  }
}

void check_distinct(const PartMatrix& matrix, const std::string& name) {
  for (std::size_t r = 0; r + 1 < matrix.row_pointers.size(); ++r)
    for (std::int64_t k = matrix.row_pointers[r] + 1; k < matrix.row_pointers[r + 1]; ++k)
      if (matrix.columns[static_cast<std::size_t>(k)] == matrix.columns[static_cast<std::size_t>(k - 1)])
        throw InternalError(fmt::format("input '{}' reached the partitioner with a repeated entry", name));
}

}  // namespace

void assemble_matrix(const InputData& input, Entries&& entries, const EntryRule& rule, std::vector<Part>& parts) {
  CutEntries whole = cut_entries(std::move(entries), rule, static_cast<int>(parts.size()));
  Entries& cut = whole.entries;  // each worker numbers its own slice in place
  const std::vector<std::int64_t>& begin = whole.begin;
  struct Scratch {
    AxisNumbers rows, cols;
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(data_threads()));
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int thread) {
    const auto worker = static_cast<std::size_t>(w);
    const std::int64_t first = begin[worker], count = begin[worker + 1] - first;
    if (count > std::numeric_limits<std::uint32_t>::max())
      fail(ExitStatus::limit, fmt::format("worker {} would hold {} entries of '{}'", w, count, input.name),
           "at most 2^32 - 1 are supported", "use more workers");
    Scratch& mine = scratch[static_cast<std::size_t>(thread)];
    PartMatrix matrix{.row_dim = rule.row->name, .col_dim = rule.col->name, .element = input.element};
    std::int32_t* rows = cut.rows.data() + first;
    std::int32_t* cols = cut.cols.data() + first;
    matrix.row_slaves = number_axis(rows, count, *rule.row, static_cast<int>(w), mine.rows);
    matrix.col_slaves = number_axis(cols, count, *rule.col, static_cast<int>(w), mine.cols);
    const auto total = [&](const DimLayout& dim, const AxisSlaves& axis) {
      return dim.masters_of(static_cast<int>(w)) + static_cast<std::int64_t>(axis.slaves.size());
    };
    compress(matrix, rows, cols, count, total(*rule.row, matrix.row_slaves), cut.values, first);
    check_distinct(matrix, input.name);
    parts[worker].matrices.emplace(input.name, std::move(matrix));
  });
}

}  // namespace kasen
