// The steps of partition(), each in a file of its own; private to the partitioner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"

namespace kasen {

// A dimension during the cut. Sizes stay below 2^31, so that tables by index take 4 bytes.
struct DimLayout {
  std::string name;
  bool local = false;
  std::int64_t size = 0;
  std::vector<std::int64_t> original;  // the user's id of each index where they had gaps, ascending
  bool in_runs = false;                // worker after worker owns the next indices: no sparse input has the dimension
  std::vector<std::int32_t> owner;     // of each index; empty for local dimensions and those in runs
  std::vector<std::int32_t> place;     // position of each index among its owner's; the same
  std::vector<std::int64_t> masters;   // the number that each worker owns
  bool whole = false;                  // every part lists the others' indices, too

  [[nodiscard]] std::int64_t masters_of(int worker) const {
    return local ? size : masters[static_cast<std::size_t>(worker)];
  }
  // This worker owns every index, and each index is its own local number.
  [[nodiscard]] bool all_here(int worker) const { return local || masters_of(worker) == size; }
};

// Entries in spill files are numbered after partition() has ended.
using Layouts = std::shared_ptr<const std::vector<DimLayout>>;

[[nodiscard]] const DimLayout& find_layout(const std::vector<DimLayout>& layouts, const InputData& input,
                                           const std::string& dim);

// A sparse input over three dimensions has a matrix over the last two for each index of the first, which is local: its
// batches. The file's rows are those of the first batch, then those of the next, until they become a part's.
[[nodiscard]] inline bool has_batches(const InputData& input) { return input.sparse && input.dims.size() == 3; }
// The dimensions of a sparse input's rows and columns.
[[nodiscard]] inline const std::string& row_dim(const InputData& input) { return input.dims[input.dims.size() - 2]; }
[[nodiscard]] inline const std::string& col_dim(const InputData& input) { return input.dims.back(); }

// table_axes.cpp: the dimensions that a table's rows and columns are over. Its rows are then those of the first.
void settle_axes(std::vector<InputData>& inputs, const std::vector<DimData>& dims);
// UserError(bad_input): a table has another number of columns than its input asks for.
[[noreturn]] void fail_columns(const InputData& input, std::int64_t wanted);
// batches.cpp: the sizes of the first two dimensions of sparse inputs with batches, by the rows of their files, into
// `extents`. UserError(bad_input): the rows are not those of whole batches.
void settle_batches(std::vector<InputData>& inputs, const std::vector<DimData>& dims);
// batches.cpp: UserError(bad_input) for a dimension that got another size from another input.
void check_batches(const std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts);

// Gives a derived dimension the size that follows from those before it, which have theirs. UserError (bad_input) for an
// input of another size.
void derive_size(DimData& dim, const std::vector<DimData>& dims, const std::vector<InputData>& inputs, int workers);

// ids.cpp: sizes and original ids of all dimensions; fills `dims` too.
[[nodiscard]] std::vector<DimLayout> unite_dims(std::vector<DimData>& dims, const std::vector<InputData>& inputs,
                                                int workers);
// ids.cpp: the user's ids become indices, in both axes and in values that hold ids of relabelled dimensions.
void to_indices(EntryList& entries, const std::vector<DimLayout>& layouts, const InputData& input);
void relabel_table(Array& values, const ElementType& element, const std::vector<DimLayout>& layouts,
                   const InputData& input);

// patterns.cpp: the entries of inputs whose name is a recipe (libcore/patterns/recipe.h), by those of the others, which
// are indices. UserError(limit): no room beside entries in spill files.
// `notes` gets one for each product.
void make_patterns(const std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts,
                   std::vector<EntryList>& entries, std::vector<std::string>* notes);

// Calls each(i, j) for all entries, which are indices by now. Those of batches are taken together: each has `rows`
// rows.
template <class Each>
void for_each_entry(const EntryList& entries, bool batches, std::int64_t rows, const Each& each) {
  std::vector<std::int64_t> lines;
  std::vector<std::int32_t> cols;
  for (const EntryChunk& chunk : entries.chunks) {
    const auto count = static_cast<std::size_t>(chunk.count());
    lines.resize(count);
    cols.resize(count);
    chunk.rows.unpack(lines.data());
    chunk.cols.unpack(cols.data());
    if (batches)
      for (std::int64_t& line : lines) line %= rows;
    for (std::size_t e = 0; e < count; ++e) each(lines[e], std::int64_t{cols[e]});
  }
}

// partition.cpp: UserError(usage, bad_input) for inputs that cannot be cut at all; the entries of sparse ones, as
// indices.
void check_inputs(const std::vector<InputData>& inputs, const PartitionOptions& options);
// partition_memory.cpp: the least bytes that parts take for an index. UserError(limit) if the indices alone take more
// memory than there is, before any is allocated.
[[nodiscard]] std::int64_t part_index_bytes(const DimLayout& dim, const std::vector<InputData>& inputs,
                                            const PartitionOptions& options);
void require_room(const std::vector<DimLayout>& layouts,
                  const std::function<std::int64_t(const DimLayout&)>& index_bytes);
// Reserves what the indices take in options.spill, if there is one. UserError(limit).
void reserve_indices(const std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                     const PartitionOptions& options);
// UserError(limit): ml has no room for the whole graph in options.spill.
void require_multilevel(const std::vector<InputData>& inputs, const PartitionOptions& options);
// Fails with the message and the remedy for a dimension that is too large. has_ids: with ids, not only positions.
[[noreturn]] void fail_for_size(const std::string& dim, std::int64_t size, const std::string& why, bool has_ids);
// Marks the dimensions that the caller names, and those along which a dense input is not cut.
void mark_whole(const std::vector<DimData>& dims, const std::vector<InputData>& inputs,
                std::vector<DimLayout>& layouts);
[[nodiscard]] std::vector<EntryList> take_entries(std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts,
                                                  std::vector<std::string>* notes = nullptr);

// The worker of an entry, for one pair of dimensions.
struct EntryRule {
  const DimLayout* row = nullptr;
  const DimLayout* col = nullptr;
  bool by_column = false;  // hybrid-cut, ml
  std::int64_t theta = 0;
  std::vector<std::uint32_t> col_count;  // nonzeros by column where by_column, at most 2^32 - 1
  std::int64_t batches = 1;              // row i of batch t is row t * row->size + i of the entries

  // The owners are those of all batches.
  [[nodiscard]] int worker(std::int64_t i, std::int64_t j) const {
    const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
    if (row->local) return col->owner[c];
    if (col->local || !by_column) return row->owner[r];
    return col_count[c] <= theta ? col->owner[c] : row->owner[r];
  }
};

// partition.cpp: one rule for each sparse input. Matrices over the same two dimensions share one, so that they are cut
// alike. Rules need no owners yet.
[[nodiscard]] std::vector<EntryRule> make_rules(const std::vector<InputData>& inputs,
                                                const std::vector<EntryList>& entries,
                                                const std::vector<DimLayout>& layouts, const PartitionOptions& options);

// partition.cpp: whether entries may go to the owners of their columns.
[[nodiscard]] bool cuts_columns(PartitionMethod method);
// partition.cpp: the inputs whose entries count together with those of this one, by column.
[[nodiscard]] std::vector<std::size_t> counted_together(const std::vector<InputData>& inputs, std::size_t input);

// owners.cpp: whether a sparse input has the dimension. Others are owned in runs.
[[nodiscard]] bool touched_by_sparse(const std::string& dim, const std::vector<InputData>& inputs);
// `rules` are by input, as make_rules gives them (nothing for dense inputs), over these same layouts.
void assign_owners(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                   const std::vector<EntryList>& entries, const std::vector<EntryRule>& rules,
                   const PartitionOptions& options);
// The last step of assign_owners: positions and numbers of owned indices, once the owners are known.
void number_masters(std::vector<DimLayout>& layouts, int workers);
// multilevel.cpp: the owners of all dimensions that a sparse matrix has.
void own_by_multilevel(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                       const std::vector<EntryList>& entries, const std::vector<EntryRule>& rules,
                       const PartitionOptions& options);

// partition.cpp: the parts, once every index and so every entry has its worker.
[[nodiscard]] std::vector<Part> build_parts(std::vector<InputData> inputs, const Layouts& layouts,
                                            std::vector<EntryList> entries, const std::vector<EntryRule>& rules,
                                            const PartitionOptions& options);

// assemble.cpp: cuts the entries of one matrix and builds each worker's local matrix with its ghosts.
void assemble_matrix(const InputData& input, EntryList&& entries, const EntryRule& rule, std::vector<Part>& parts);
// The same for entries in spill files, which stay there: the parts get the ghosts alone. UserError(limit).
void list_matrix(const InputData& input, EntryList&& entries, const EntryRule& rule, const Layouts& layouts,
                 std::vector<Part>& parts, std::vector<SpilledMatrices>& spilled);

// slaves.cpp: numbers one axis of one part's matrix. First every index is shown, then the ghosts are listed, then each
// index has its local number. It belongs to one thread and serves one part after the other.
class AxisNumbers {
 public:
  void show(const std::vector<std::int64_t>& indices, const DimLayout& dim, int worker);
  // The ghosts that the indices need on this worker, by owner, then ascending.
  [[nodiscard]] AxisSlaves list(const DimLayout& dim, int worker);
  void number(std::vector<std::int64_t>& indices, const DimLayout& dim, int worker) const;
  void forget(const AxisSlaves& axis);
  // Ghosts that were listed and forgotten, so that indices are numbered again.
  void recall(const AxisSlaves& axis, const DimLayout& dim, int worker);

 private:
  std::vector<std::int32_t> local_;  // by index: the ghost's local index, or -1
  std::vector<std::int32_t> found_;
};
// Fills in who mirrors which owned indices, once all parts know their ghosts.
void link_mirrors(std::vector<Part>& parts, const std::string& matrix, AxisSlaves PartMatrix::*axis,
                  const DimLayout& dim);

// tables.cpp: cuts a dense input.
void place_table(InputData&& input, const std::vector<DimLayout>& layouts, const PartitionOptions& options,
                 std::vector<Part>& parts);

}  // namespace kasen
