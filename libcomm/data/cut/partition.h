/// \file
/// Partitioners (SYSTEMS section 6, decision 7): they give every index of a dimension and every nonzero to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcomm/data/read/readers.h"
#include "libcore/data/cut_sample.h"
#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

enum class PartitionMethod : std::uint8_t { block, hybrid_cut, ml };

/// The entries of one worker's matrix where they lie in spill files. The matrix has its ghosts already.
class SpilledEntries {
 public:
  /// Entries from `first` on, by row, then column: their local columns, and their values (none for null).
  using Take = std::function<void(std::int64_t first, const std::vector<std::int32_t>& columns, const Array& values)>;
  virtual ~SpilledEntries() = default;
  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Gives all of them, some at a time, and fills in the row pointers of `matrix`. Only once. UserError(io).
  virtual void pass(PartMatrix& matrix, const Take& take) = 0;
};
using SpilledMatrices = std::map<std::string, std::unique_ptr<SpilledEntries>>;  ///< by input

/// The rows of inputs, by name, that are made of their files when a bundle is written.
using LaterTables = std::map<std::string, std::shared_ptr<const RowStream>>;

/// Looks at data before they are cut. Numbers of owned indices and of entries are exact.
class CutLook {
 public:
  virtual ~CutLook() = default;
  [[nodiscard]] virtual std::int64_t entries() const = 0;  ///< of all sparse inputs
  [[nodiscard]] virtual bool sampled() const = 0;          ///< ghosts are those of a sample
  /// How this method would cut them. By ml, it takes as long as the cut itself, which is then not made again.
  [[nodiscard]] virtual CutSample cut(PartitionMethod method) = 0;
};

struct PartitionOptions {
  int workers = 1;
  PartitionMethod method = PartitionMethod::hybrid_cut;
  /// Chooses the method in place of `method`, if there is one. Called once at most: only where the method matters.
  std::function<PartitionMethod(CutLook&)> choose = nullptr;
  std::int64_t theta = 100;  ///< hybrid-cut, ml: a column with at most theta entries is cut by its owner
  std::int64_t metis_bytes = std::numeric_limits<std::int64_t>::max();  ///< ml: METIS takes no more memory than this
  /// Gets the inputs whose elements stay in their files, as their parts lie there: worker after worker has the next
  /// rows, or each all of it. The parts have their element type alone. Without it, no table may stay.
  std::map<std::string, StoredTable>* stored = nullptr;
  /// Gets the inputs whose rows are made later, in the same order; they are for BundleWriter::put_off. Without it, all
  /// come into memory.
  LaterTables* later = nullptr;
  /// The memory of inputs that were read with ReadOptions::spill, of which the parts take theirs.
  std::shared_ptr<SpillRoom> spill = nullptr;
  /// Gets, by worker, the entries of sparse inputs in spill files. The parts then have no row pointers, columns and
  /// values of these. Without it, all entries come back into memory.
  std::vector<SpilledMatrices>* spilled = nullptr;
  std::vector<std::string>* notes = nullptr;  ///< ml: gets notes for the user about the choice of owners
};

/// One input of the program with the data read for it; exactly one of matrix, table is used.
struct InputData {
  std::string name;
  std::vector<std::string> dims;  ///< the program's dimension names
  ElementType element;
  bool sparse = false;
  RawMatrix matrix;
  RawTable table;
  std::string source;  ///< file name and digest, for the manifest
  /// For a table over several dimensions: its size along each, or -1 if unknown; the partitioner fills it in.
  std::vector<std::int64_t> extents = {};
};

inline constexpr std::int64_t unknown_size = -1;

/// One dimension of the program. A `size` that is known on entry is fixed (`dim K = 10`, `--dim N=...`): ids are then
/// indices and must lie below it. Else ids are united over the inputs, and names with gaps are relabelled, ascending,
/// to 0..size-1.
struct DimData {
  std::string name;
  bool local = false;
  std::int64_t size = unknown_size;
  std::vector<std::int64_t> original;  ///< ids of the user where they had gaps (ascending); empty: 0..size-1
  bool whole = false;                  ///< dense arrays are whole along it: every part lists the owner of every index
  Derivation derived = {};             ///< its size follows from earlier ones, which are its sources by position
};

/// Unites the ids of all inputs over each dimension, gives every index and every nonzero to a worker, and lists ghosts
/// and exchanges. `dims` are the program's, in its order (an element `id[N]` gives its dimension by position). Their
/// size and original ids are filled in. Deterministic. The inputs are consumed.
/// Owners: block gives runs of ceil(N/P) indices. hybrid-cut hashes the indices of dimensions of sparse matrices; other
/// dimensions have blocks. ml chooses owners so that few ghosts are needed. Each worker then has at most 1.10 times the
/// mean of indices and of entries, where whole indices allow that.
/// Of a sparse input over three dimensions, the first local, each index of that has a matrix over the other two, a
/// batch. The file's rows are those of the first batch, then those of the next. Owners and workers follow from all
/// batches together. Entries: block gives (i,j) to the owner of row i. Methods hybrid-cut and ml (PowerLyra, for MxV)
/// give it to the owner of column j if the column has at most theta entries, else to the owner of row i. All matrices
/// over the same two dimensions count together. A dense array is cut along its first dimension that is not local, and
/// is whole along others. UserError: bad_input (an input that does not fit its dimensions), limit.
[[nodiscard]] std::vector<Part> partition(std::vector<DimData>& dims, std::vector<InputData> inputs,
                                          const PartitionOptions& options);

/// By input: as many rows as its file has where they are those of its first two dimensions, a local one and one that is
/// cut, block after block (docs/data.md, Rows of two dimensions); -1 for others. UserError(bad_input): two files for
/// the same two dimensions have other numbers of rows, or a table has columns that its input has no use for.
[[nodiscard]] std::vector<std::int64_t> rows_of_blocks(const std::vector<InputData>& inputs,
                                                       const std::vector<DimData>& dims);

/// The indices of one block: worker w owns those from w times this number on.
[[nodiscard]] std::int64_t indices_of_a_block(std::int64_t size, int workers);
/// The indices that a worker owns in blocks: a run, of size 0 for the last workers of a small dimension.
[[nodiscard]] IndexList block_of(std::int64_t size, int workers, int worker);

/// The names of the methods in options and manifests.
inline constexpr std::array<std::pair<std::string_view, PartitionMethod>, 3> partition_methods{
    {{"block", PartitionMethod::block}, {"hybrid-cut", PartitionMethod::hybrid_cut}, {"ml", PartitionMethod::ml}}};
[[nodiscard]] constexpr std::string_view method_name(PartitionMethod method) {
  return partition_methods[static_cast<std::size_t>(method)].first;
}
/// The hash function of hybrid-cut, as the manifest names it.
inline constexpr std::string_view owner_hash_name =
    "XXH3-64, seed 0, of the index as 8 little-endian bytes, modulo workers";
[[nodiscard]] int hash_owner(std::int64_t index, int workers);

/// The statistics of one bundle, which `kasen partition --stats` prints and measure evaluates with. Per-worker lists
/// have one number a worker. Mirrors count an owned index once for each worker that holds a ghost of it: the elements
/// that a scatter sends or a gather receives.
struct DimStatistics {
  std::string name;
  bool local = false;
  bool whole = false;  ///< its parts list the owned indices of all workers
  std::int64_t size = 0;
  std::int64_t slaves = 0;  ///< S as the paper counts it: union over all axes and matrices
  std::vector<std::int64_t> masters_by_worker, slaves_by_worker;
  friend bool operator==(const DimStatistics&, const DimStatistics&) = default;
};
struct MatrixStatistics {
  std::string name, row_dim, col_dim;
  std::int64_t batches = 1;
  std::int64_t entries = 0;
  std::int64_t row_slaves = 0,
               col_slaves = 0;  ///< ghosts by axis: MxV scatters rows and gathers columns; MxVT reversed
  std::vector<std::int64_t> entries_by_worker, row_slaves_by_worker, col_slaves_by_worker;
  std::vector<std::int64_t> row_mirrors_by_worker, col_mirrors_by_worker;
  friend bool operator==(const MatrixStatistics&, const MatrixStatistics&) = default;
};
struct BundleStatistics {
  int workers = 1;
  std::vector<DimStatistics> dims;  ///< by name, as the parts have them
  std::vector<MatrixStatistics> matrices;
  friend bool operator==(const BundleStatistics&, const BundleStatistics&) = default;
};
[[nodiscard]] BundleStatistics statistics(const std::vector<Part>& parts);
/// The same part by part, in any order, starting from an empty BundleStatistics. `spilled` has the entries of those
/// matrices that the part is without.
void add_statistics(BundleStatistics& statistics, const Part& part, const SpilledMatrices* spilled = nullptr);
/// The entries of one of its matrices.
[[nodiscard]] std::int64_t entries_of(const Part& part, const std::string& matrix, const SpilledMatrices* spilled);
/// Text for people: N, S, ghosts by axis, traffic of MxV and MxVT, replication factor, balance, numbers by worker.
[[nodiscard]] std::string statistics_text(const BundleStatistics& statistics);

}  // namespace kasen
