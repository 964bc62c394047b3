// The groups that a matrix's entries are cut into; private to the partitioner.
#pragma once

#include <cstdint>
#include <vector>

#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/regroup.h"

namespace kasen {

// Groups a matrix's entries by worker, and each worker's by ranges of its local rows, in their order, so that little is
// sorted at a time. Local rows are the owned ones first, then ghosts by owner; of batches, so in each. A batch with
// many entries has ranges of its own, and several with few are one range.
class EntryGroups : public Grouping {
 public:
  // `rule` outlives it.
  EntryGroups(const EntryRule& rule, int workers, const EntryList& entries);

  // The ranges of rows that all entries together are worth, if one worker has them.
  [[nodiscard]] static std::int64_t most_ranges(const EntryList& entries);

  [[nodiscard]] std::int32_t count() const { return per_worker_ * workers_; }
  [[nodiscard]] std::int32_t whole(const EntryChunk& chunk) const override;
  void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const override;

 private:
  // Consecutive batches, with groups of their own: ranges of a worker's own rows, then groups of owners of its ghosts,
  // each with ranges of these rows.
  struct Section {
    std::int32_t first = 0;  // group
    int own = 1, owners = 0, foreign = 0;
    [[nodiscard]] std::int32_t groups() const { return own + owners * foreign; }
  };
  // A row of the entries: its batch, and its row there.
  struct Line {
    std::int64_t batch, row;
  };

  [[nodiscard]] Line line_of(std::int64_t row) const;
  [[nodiscard]] std::size_t run_of(const Line& line) const;
  [[nodiscard]] std::vector<std::int64_t> weigh_runs(const EntryList& entries);
  void cut_batches(const std::vector<std::int64_t>& weight);
  void add_section(std::int64_t batches, int own);
  void cut_rows(const std::vector<std::int64_t>& weight);
  [[nodiscard]] std::int32_t within(int worker, const Line& line) const;

  const EntryRule& rule_;
  int ranges_;  // of a worker's own rows, about, in all batches together
  int workers_;
  int shift_ = 0;                // a run has 2^shift_ rows of a batch
  std::int64_t runs_ = 0;        // of a batch
  std::int32_t per_worker_ = 0;  // groups
  std::vector<Section> sections_;
  std::vector<std::int32_t> section_;                    // of each batch
  std::vector<std::int32_t> own_range_, foreign_range_;  // by run, batch after batch
};

}  // namespace kasen
