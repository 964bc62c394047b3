#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"
#include "libcomm/data/regroup.h"

namespace kasen {
namespace {

// How a matrix's entries are grouped: by worker, and each worker's by ranges of its local rows, in their order, so that
// what is sorted at a time stays small. Local rows are masters first, then slaves by owner.
class Groups {
 public:
  Groups(const EntryRule& rule, int workers, const EntryList& entries)
      : rule_(rule),
        own_(std::max(1, most / workers)),
        owners_(rule.row->local || !rule.by_column || rule.col->local ? 0 : std::min(workers - 1, own_)),
        foreign_(owners_ == 0 ? 0 : std::max(1, own_ / workers)),
        workers_(workers) {
    if (own_ == 1) owners_ = foreign_ = 0;
    weigh_rows(entries);
  }

  [[nodiscard]] std::int32_t per_worker() const { return own_ + owners_ * foreign_; }
  [[nodiscard]] std::int32_t count() const { return per_worker() * workers_; }

  void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const {
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const std::int64_t row = entries.rows[k];
      const int worker = rule_.worker(row, entries.cols[k]);
      groups[k] = worker * per_worker() + within(worker, row);
    }
  }

 private:
  static constexpr int most = 64;  // ranges of rows altogether, about
  static constexpr std::int64_t bins = 4096;

  // Rows are cut where their entries are cut into equal shares, told by counts of 4096 runs of rows.
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
      const double share = static_cast<double>(before) / total;  // of the entries that stand before this run of rows
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
  int owners_;   // groups of owners of its slaves
  int foreign_;  // ranges of each such group's rows
  int workers_;
  int shift_ = 0;
  std::vector<std::int32_t> own_range_, foreign_range_;  // by run of rows
};

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

  PartMatrix build(AxisNumbers& rows, AxisNumbers& cols) {
    matrix_ = {.row_dim = rule_.row->name, .col_dim = rule_.col->name, .element = input_.element};
    for (const EntryList& group : groups_) {
      for (const EntryChunk& chunk : group.chunks) {
        const LooseEntries loose(chunk);
        rows.show(loose.rows, *rule_.row, worker_);
        cols.show(loose.cols, *rule_.col, worker_);
      }
    }
    matrix_.row_slaves = rows.list(*rule_.row, worker_);
    matrix_.col_slaves = cols.list(*rule_.col, worker_);
    const std::int64_t local_rows =
        rule_.row->masters_of(worker_) + static_cast<std::int64_t>(matrix_.row_slaves.slaves.size());
    matrix_.row_pointers.reserve(static_cast<std::size_t>(local_rows) + 1);
    matrix_.row_pointers.push_back(0);
    matrix_.columns.reserve(static_cast<std::size_t>(count_));
    if (input_.element.bytes() > 0) matrix_.values = Array(input_.element, count_);
    for (EntryList& group : groups_) {
      append(group, rows, cols);
      group = {};
      release_freed_memory();
    }
    matrix_.row_pointers.resize(static_cast<std::size_t>(local_rows) + 1, count_);
    rows.forget(matrix_.row_slaves);
    cols.forget(matrix_.col_slaves);
    return std::move(matrix_);
  }

 private:
  // The next rows' entries, by row, then column.
  void append(const EntryList& group, const AxisNumbers& rows, const AxisNumbers& cols) {
    LooseEntries loose(group);
    rows.number(loose.rows, *rule_.row, worker_);
    cols.number(loose.cols, *rule_.col, worker_);
    const std::vector<std::uint32_t> order = sorted_order(loose.rows, loose.cols);
    const auto first = static_cast<std::int64_t>(matrix_.columns.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::int64_t row = loose.rows[order[k]], col = loose.cols[order[k]];
      if (k > 0 && row == loose.rows[order[k - 1]] && col == loose.cols[order[k - 1]])
        throw InternalError(fmt::format("input '{}' reached the partitioner with a repeated entry", input_.name));
      if (static_cast<std::int64_t>(matrix_.row_pointers.size()) > row + 1)
        throw InternalError("groups of rows overlap");
      matrix_.row_pointers.resize(static_cast<std::size_t>(row) + 1, static_cast<std::int64_t>(matrix_.columns.size()));
      matrix_.columns.push_back(static_cast<std::int32_t>(col));
    }
    if (input_.element.bytes() > 0) append_values(group, order, first);
  }

  void append_values(const EntryList& group, const std::vector<std::uint32_t>& order, std::int64_t first) {
    const Array values = group.values();
    for (std::int64_t p = 0; p < values.element.planes(); ++p) {
      const std::int64_t width = scalar_bytes(values.element.plane_scalar(p));
      const std::byte* from = values.plane(p);
      std::byte* to = matrix_.values.plane(p) + first * width;
      for (const std::uint32_t k : order) to = std::copy_n(from + k * width, width, to);
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
  const Groups groups(rule, static_cast<int>(parts.size()), entries);
  std::vector<EntryList> cut =
      regroup(std::move(entries), groups.count(), [&](const LooseEntries& loose, auto& to) { groups.find(loose, to); });
  struct Scratch {
    AxisNumbers rows, cols;
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(data_threads()));
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int thread) {
    Scratch& mine = scratch[static_cast<std::size_t>(thread)];
    const auto each = static_cast<std::size_t>(groups.per_worker());
    PartBuilder builder(input, rule, static_cast<int>(w),
                        std::span(cut).subspan(static_cast<std::size_t>(w) * each, each));
    parts[static_cast<std::size_t>(w)].matrices.emplace(input.name, builder.build(mine.rows, mine.cols));
  });
}

}  // namespace kasen
