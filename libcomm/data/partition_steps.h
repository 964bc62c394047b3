// The steps of partition(), each in a file of its own; private to the partitioner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/partition.h"

namespace kasen {

// A dimension while it is being cut. Sizes stay below 2^31, so that tables by index take 4 bytes.
struct DimLayout {
  std::string name;
  bool local = false;
  std::int64_t size = 0;
  std::vector<std::int64_t> original;  // the user's id of each index where they had gaps
  std::vector<std::int32_t> owner;     // of each index; empty for local dimensions
  std::vector<std::int32_t> place;     // of each index among its owner's masters; empty for local dimensions
  std::vector<std::int64_t> masters;   // how many each worker has
  bool whole = false;                  // every part lists the others' masters, too

  [[nodiscard]] std::int64_t masters_of(int worker) const {
    return local ? size : masters[static_cast<std::size_t>(worker)];
  }
};

// A sparse input after its ids became indices, before its entries are cut.
struct Entries {
  std::vector<std::int32_t> rows, cols;
  Array values;
};

[[nodiscard]] const DimLayout& find_layout(const std::vector<DimLayout>& layouts, const InputData& input,
                                           const std::string& dim);

// ids.cpp: sizes and original ids of all dimensions; fills `dims` too.
[[nodiscard]] std::vector<DimLayout> unite_dims(std::vector<DimData>& dims, const std::vector<InputData>& inputs);
// ids.cpp: the index of each of the user's ids; `ids` is released on the way.
[[nodiscard]] std::vector<std::int32_t> to_indices(std::vector<std::int64_t>&& ids, const DimLayout& dim);
// ids.cpp: replaces the ids in `values` by indices where the element holds ids of relabelled dimensions.
void relabel_values(Array& values, const ElementType& element, const std::vector<DimLayout>& layouts,
                    const InputData& input);

// owners.cpp
void assign_owners(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                   const PartitionOptions& options);

// The worker of an entry, for one pair of dimensions.
struct EntryRule {
  const DimLayout* row = nullptr;
  const DimLayout* col = nullptr;
  bool by_column = false;  // hybrid-cut
  std::int64_t theta = 0;
  std::vector<std::int64_t> col_count;  // stored entries by column (hybrid-cut)

  [[nodiscard]] int worker(std::int32_t i, std::int32_t j) const {
    const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
    if (row->local) return col->owner[c];
    if (col->local || !by_column) return row->owner[r];
    return col_count[c] <= theta ? col->owner[c] : row->owner[r];
  }
};

// assemble.cpp: cuts the entries of one matrix and builds each worker's local matrix with its slaves.
void assemble_matrix(const InputData& input, Entries&& entries, const EntryRule& rule, std::vector<Part>& parts);

// slaves.cpp: one axis of one part's matrix while it is being numbered.
struct AxisNumbers {
  std::vector<std::int32_t> local;  // by index: the slave's local index, or -1; scratch of one thread
};
// Lists the slaves that `indices` need on this worker, by owner, then ascending, and replaces the indices by local
// ones.
[[nodiscard]] AxisSlaves number_axis(std::int32_t* indices, std::int64_t count, const DimLayout& dim, int worker,
                                     AxisNumbers& scratch);
// Fills in who mirrors which masters, once all parts know their slaves.
void link_mirrors(std::vector<Part>& parts, const std::string& matrix, AxisSlaves PartMatrix::*axis,
                  const DimLayout& dim);

// tables.cpp: cuts a dense input.
void place_table(InputData&& input, const std::vector<DimLayout>& layouts, std::vector<Part>& parts);

}  // namespace kasen
