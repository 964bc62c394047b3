// One worker's matrix, made of groups of its entries; private to the partitioner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/regroup.h"

namespace kasen {

// A matrix, and the dimensions that it is cut along.
struct MatrixCut {
  std::string name;
  ElementType element;
  const DimLayout* row = nullptr;
  const DimLayout* col = nullptr;
  std::int64_t batches = 1;
};

// Each group has rows of its own, behind those of the group before. Local rows are the owned ones first, then ghosts by
// owner; those of a batch are behind those of the batch before.
class PartBuilder {
 public:
  // UserError(limit): more entries than a part may have.
  PartBuilder(const MatrixCut& cut, int worker, std::span<EntryList> groups);
  [[nodiscard]] std::int64_t count() const { return count_; }
  // Each of `threads` threads takes a group at a time; groups are freed on the way.
  [[nodiscard]] PartMatrix build(AxisNumbers& rows, AxisNumbers& cols, std::size_t threads);
  // Without entries: the ghosts alone.
  [[nodiscard]] PartMatrix list(AxisNumbers& rows, AxisNumbers& cols);
  // Then the entries of this matrix and its row pointers, a few groups at a time.
  void pass(PartMatrix& matrix, std::size_t threads, const SpilledEntries::Take& take);

 private:
  // The destination of a group's entries, and the rows that it has.
  struct Place;
  // Where the groups from one on end that are taken and freed before memory is given back.
  [[nodiscard]] std::size_t wave_end(std::size_t first, std::size_t threads, std::int64_t few_entries) const;
  void show(AxisNumbers& rows, AxisNumbers& cols) const;
  void make_pointers();
  [[nodiscard]] std::int64_t rows_of_a_batch() const;
  // Rows of the entries become the part's.
  void number_rows(std::vector<std::int64_t>& lines, const AxisNumbers& rows) const;
  // Groups first to last - 1 to entries from `at` on of the matrix.
  void take_wave(std::size_t first, std::size_t last, std::int64_t at, const AxisNumbers& rows,
                 const AxisNumbers& cols);
  void take_group(const EntryList& group, const AxisNumbers& rows, const AxisNumbers& cols, LooseEntries& loose,
                  Place& place);
  void take_values(const EntryList& group, const std::vector<std::uint32_t>& order, std::int64_t first);

  const MatrixCut& cut_;
  int worker_;
  std::span<EntryList> groups_;
  std::int64_t count_ = 0;
  PartMatrix matrix_;
  std::vector<LooseEntries> loose_;  // of each thread
  std::int64_t last_row_ = -1;
};

}  // namespace kasen
