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
  // each with ranges of these rows. Several batches are one range.
  struct Section {
    std::int32_t first = 0;  // group
    int own = 1, owners = 0, foreign = 0;
    int shift = 0;               // a run has 2^shift rows; the ranges of each are known
    std::int64_t first_run = 0;  // in own_range_
    [[nodiscard]] std::int32_t groups() const { return own + owners * foreign; }
    [[nodiscard]] std::int64_t runs(std::int64_t rows) const { return (rows >> shift) + 1; }
    [[nodiscard]] std::size_t run_of(std::int64_t row) const {
      return static_cast<std::size_t>(first_run + (row >> shift));
    }
  };
  // A row of the entries: its batch, and its row there.
  struct Line {
    std::int64_t batch, row;
  };

  [[nodiscard]] Line line_of(std::int64_t row) const;
  [[nodiscard]] const Section& section_of(const Line& line) const;
  [[nodiscard]] std::vector<std::int64_t> weigh_batches(const EntryList& entries) const;
  void cut_batches(const std::vector<std::int64_t>& weight);
  void add_section(std::int64_t batches, int own);
  void cut_rows(const EntryList& entries);
  [[nodiscard]] std::int32_t within(int worker, const Line& line) const;

  const EntryRule& rule_;
  int ranges_;  // of a worker's own rows, about, in all batches together
  int workers_;
  std::int32_t per_worker_ = 0;  // groups
  std::vector<Section> sections_;
  std::vector<std::int32_t> section_;                    // of each batch
  std::vector<std::int32_t> own_range_, foreign_range_;  // by run, section after section
};

}  // namespace kasen
