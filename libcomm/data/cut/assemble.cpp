#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "libcomm/data/base/huge_pages.h"
#include "libcomm/data/base/parallel.h"
#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/regroup.h"

namespace kasen {
namespace {

constexpr int ranges_a_thread = 32;  // of rows, in total, about: each thread unpacks one at a time

// Groups a matrix's entries by worker, and each worker's by ranges of its local rows, in their order, so that little is
// sorted at a time. Local rows are the owned ones first, then ghosts by owner.
class Groups : public Grouping {
 public:
  Groups(const EntryRule& rule, int workers, const EntryList& entries)
      : rule_(rule),
        own_(std::max(1, ranges_a_thread * data_threads() / workers)),
        owners_(rule.row->local || !rule.by_column || rule.col->local ? 0 : std::min(workers - 1, own_)),
        foreign_(owners_ == 0 ? 0 : std::max(1, own_ / workers)),
        workers_(workers) {
    if (own_ == 1) owners_ = foreign_ = 0;
    weigh_rows(entries);
  }

  [[nodiscard]] std::int32_t per_worker() const { return own_ + owners_ * foreign_; }
  [[nodiscard]] std::int32_t count() const { return per_worker() * workers_; }

  [[nodiscard]] std::int32_t whole(const EntryChunk& chunk) const override {
    if (workers_ > 1) return -1;
    const std::int32_t group = within(0, chunk.rows.smallest());
    return group == within(0, chunk.rows.largest()) ? group : -1;
  }
  void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const override {
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const std::int64_t row = entries.rows[k];
      const int worker = rule_.worker(row, entries.cols[k]);
      groups[k] = worker * per_worker() + within(worker, row);
    }
  }

 private:
  static constexpr std::int64_t bins = 4096;

  // Cuts the rows so that each range has an equal share of the entries, by counts over 4096 runs of rows.
  void weigh_rows(const EntryList& entries) {
    const std::int64_t size = rule_.row->size;
    while (size >> shift_ > bins) ++shift_;
    std::vector<std::int64_t> weight(static_cast<std::size_t>((size >> shift_) + 1));
    std::vector<std::int64_t> rows;
    for (const EntryChunk& chunk : entries.chunks) {
      if (own_ == 1) break;
      rows.resize(static_cast<std::size_t>(chunk.count()));
      chunk.rows.unpack(rows.data());
      for (const std::int64_t row : rows) ++weight[static_cast<std::size_t>(row >> shift_)];
    }
    const auto total = static_cast<double>(std::max<std::int64_t>(1, entries.count()));
    std::int64_t before = 0;
    for (const std::int64_t w : weight) {
      const double share = static_cast<double>(before) / total;  // of the entries before this run of rows
      own_range_.push_back(std::min(own_ - 1, static_cast<int>(share * own_)));
      foreign_range_.push_back(std::clamp(static_cast<int>(share * foreign_), 0, std::max(0, foreign_ - 1)));
      before += w;
    }
  }

  [[nodiscard]] std::int32_t within(int worker, std::int64_t row) const {
    if (own_ == 1) return 0;
    const auto run = static_cast<std::size_t>(row >> shift_);
    if (owners_ == 0) return own_range_[run];
    const int owner = rule_.row->local ? worker : rule_.row->owner[static_cast<std::size_t>(row)];
    if (owner == worker) return own_range_[run];
    const int place = owner - (owner > worker ? 1 : 0);  // among the workers - 1 others
    const int group = static_cast<int>(static_cast<std::int64_t>(place) * owners_ / (workers_ - 1));
    return own_ + group * foreign_ + (owners_ == workers_ - 1 ? foreign_range_[run] : 0);
  }

  const EntryRule& rule_;
  int own_;      // ranges of a worker's own rows
  int owners_;   // groups of owners of its ghosts
  int foreign_;  // ranges of each such group's rows
  int workers_;
  int shift_ = 0;
  std::vector<std::int32_t> own_range_, foreign_range_;  // by run of rows
};

// The entries of one worker in groups of whole chunks, if each chunk has rows of its own, behind those of the chunk
// before. Formats with one row a line give such chunks. Else none.
std::vector<EntryList> runs_of_chunks(EntryList& entries, std::int64_t most) {
  std::vector<EntryChunk>& chunks = entries.chunks;
  const auto meets = [](const EntryChunk& a, const EntryChunk& b) { return a.rows.largest() >= b.rows.smallest(); };
  if (chunks.empty() || std::adjacent_find(chunks.begin(), chunks.end(), meets) != chunks.end()) return {};
  const std::int64_t total = entries.count();
  std::vector<EntryList> runs;
  std::int64_t before = 0;
  for (EntryChunk& chunk : chunks) {
    if (runs.empty() || before >= static_cast<std::int64_t>(runs.size()) * (total / most))
      runs.emplace_back(entries.element);
    before += chunk.count();
    runs.back().chunks.push_back(std::move(chunk));
  }
  chunks.clear();
  return runs;
}

// Builds one worker's matrix from its groups, which are freed on the way.
class PartBuilder {
 public:
  PartBuilder(const InputData& input, const EntryRule& rule, int worker, std::span<EntryList> groups)
      : input_(input), rule_(rule), worker_(worker), groups_(groups) {
    for (const EntryList& group : groups_) count_ += group.count();
    if (count_ > std::numeric_limits<std::uint32_t>::max())
      fail(ExitStatus::limit, fmt::format("worker {} would hold {} entries of '{}'", worker_, count_, input_.name),
           "at most 2^32 - 1 are supported", "use more workers");
  }

  // Each of `threads` threads takes a group at a time.
  PartMatrix build(AxisNumbers& rows, AxisNumbers& cols, std::size_t threads) {
    matrix_ = {.row_dim = rule_.row->name, .col_dim = rule_.col->name, .element = input_.element};
    list_slaves(rows, cols);
    const std::int64_t local_rows =
        rule_.row->masters_of(worker_) + static_cast<std::int64_t>(matrix_.row_slaves.slaves.size());
    matrix_.row_pointers.resize(static_cast<std::size_t>(local_rows) + 1);
    reserve_large(matrix_.columns, static_cast<std::size_t>(count_));
    if (input_.element.bytes() > 0) matrix_.values = Array(input_.element, count_);
    std::vector<LooseEntries> loose(threads);
    std::int64_t last_row = -1;
    for (std::size_t first = 0, last = 0; first < groups_.size(); first = last) {
      last = wave_end(first, threads);
      std::vector<Place> places;
      auto end = static_cast<std::int64_t>(matrix_.columns.size());
      for (std::size_t g = first; g < last; ++g) {
        places.push_back({.first = end});
        end += groups_[g].count();
      }
      matrix_.columns.resize(static_cast<std::size_t>(end));
      const auto take = [&](std::int64_t k, int thread) {
        const auto at = static_cast<std::size_t>(k);
        take_group(groups_[first + at], rows, cols, loose[static_cast<std::size_t>(thread)], places[at]);
        groups_[first + at] = {};
      };
      const auto count = static_cast<std::int64_t>(places.size());
      if (threads > 1) parallel_for(count, take);
      for (std::int64_t k = 0; threads == 1 && k < count; ++k) take(k, 0);
      release_freed_memory();
      for (const Place& place : places) {
        if (place.low_row <= last_row) throw InternalError("groups of rows overlap");
        last_row = std::max(last_row, place.high_row);
      }
    }
    std::partial_sum(matrix_.row_pointers.begin(), matrix_.row_pointers.end(), matrix_.row_pointers.begin());
    rows.forget(matrix_.row_slaves);
    cols.forget(matrix_.col_slaves);
    return std::move(matrix_);
  }

 private:
  // The destination of a group's entries, and the rows that it has.
  struct Place {
    std::int64_t first = 0;
    std::int64_t low_row = std::numeric_limits<std::int64_t>::max(), high_row = -1;
  };

  // The end of the next groups that are taken and freed before memory is given back: one group for each thread, or more
  // if they have few entries.
  [[nodiscard]] std::size_t wave_end(std::size_t first, std::size_t threads) const {
    constexpr std::int64_t few_entries = std::int64_t{1} << 24;
    std::size_t end = first;
    for (std::int64_t count = 0; end < groups_.size(); ++end) {
      count += groups_[end].count();
      if (end >= first + threads && count > few_entries) break;
    }
    return end;
  }

  void list_slaves(AxisNumbers& rows, AxisNumbers& cols) {
    const bool all_here = rule_.row->all_here(worker_) && rule_.col->all_here(worker_);
    for (const EntryList& group : groups_) {
      for (const EntryChunk& chunk : group.chunks) {
        if (all_here) break;
        const LooseEntries loose(chunk);
        rows.show(loose.rows, *rule_.row, worker_);
        cols.show(loose.cols, *rule_.col, worker_);
      }
    }
    matrix_.row_slaves = rows.list(*rule_.row, worker_);
    matrix_.col_slaves = cols.list(*rule_.col, worker_);
  }

  // Sorts the group's entries by row, then column, and counts those of each row.
  void take_group(const EntryList& group, const AxisNumbers& rows, const AxisNumbers& cols, LooseEntries& loose,
                  Place& place) {
    loose.load(group);
    rows.number(loose.rows, *rule_.row, worker_);
    cols.number(loose.cols, *rule_.col, worker_);
    const bool ordered = in_order(loose.rows, loose.cols);
    const std::vector<std::uint32_t> order =
        ordered ? std::vector<std::uint32_t>() : sorted_order(loose.rows, loose.cols);
    std::int32_t* const columns = matrix_.columns.data() + place.first;
    std::int64_t row = -1, col = -1;
    for (std::size_t k = 0; k < loose.rows.size(); ++k) {
      const std::size_t from = ordered ? k : order[k];
      if (row == loose.rows[from] && col == loose.cols[from])
        throw InternalError(fmt::format("input '{}' reached the partitioner with a repeated entry", input_.name));
      row = loose.rows[from];
      col = loose.cols[from];
      if (k == 0) place.low_row = row;
      ++matrix_.row_pointers[static_cast<std::size_t>(row) + 1];
      columns[k] = static_cast<std::int32_t>(col);
    }
    place.high_row = row;
    if (input_.element.bytes() > 0) take_values(group, order, place.first);
  }

  // `order` is empty if the values are in order already.
  void take_values(const EntryList& group, const std::vector<std::uint32_t>& order, std::int64_t first) {
    const Array values = order.empty() ? Array() : group.values();
    for (std::int64_t p = 0; p < input_.element.planes(); ++p) {
      const std::int64_t width = scalar_bytes(input_.element.plane_scalar(p));
      std::byte* to = matrix_.values.plane(p) + first * width;
      for (const std::uint32_t k : order) to = std::copy_n(values.plane(p) + k * width, width, to);
      for (std::size_t c = 0; order.empty() && c < group.chunks.size(); ++c)
        to = std::copy_n(group.chunks[c].values.plane(group.element, p), group.chunks[c].count() * width, to);
    }
  }

  const InputData& input_;
  const EntryRule& rule_;
  int worker_;
  std::span<EntryList> groups_;
  std::int64_t count_ = 0;
  PartMatrix matrix_;
};

}  // namespace

void assemble_matrix(const InputData& input, EntryList&& from, const EntryRule& rule, std::vector<Part>& parts) {
  EntryList entries = std::move(from);
  const auto threads = static_cast<std::size_t>(data_threads());
  std::vector<EntryList> cut;
  if (parts.size() == 1) cut = runs_of_chunks(entries, static_cast<std::int64_t>(ranges_a_thread * threads));
  if (cut.empty()) {
    const Groups groups(rule, static_cast<int>(parts.size()), entries);
    cut = regroup(std::move(entries), groups.count(), groups);
  }
  const std::size_t each = cut.size() / parts.size();
  struct Scratch {
    AxisNumbers rows, cols;
  };
  // A thread for each part or, if parts are few, for each group of one part after the other.
  const bool few = parts.size() < std::min(threads, each);
  std::vector<Scratch> scratch(few ? 1 : threads);
  const auto build = [&](std::int64_t w, int thread) {
    Scratch& mine = scratch[static_cast<std::size_t>(thread)];
    const auto at = static_cast<std::size_t>(w);
    PartBuilder builder(input, rule, static_cast<int>(w), std::span(cut).subspan(at * each, each));
    parts[at].matrices.emplace(input.name, builder.build(mine.rows, mine.cols, few ? threads : 1));
  };
  if (!few) return parallel_for(static_cast<std::int64_t>(parts.size()), build);
  for (std::size_t w = 0; w < parts.size(); ++w) build(static_cast<std::int64_t>(w), 0);
}

}  // namespace kasen
