/// \file
/// The bundle: a folder with one HDF5 file for each part, or one for all dense arrays, and manifest.json, written last
/// (docs/bundle.md).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/base/stored_table.h"
#include "libcomm/data/cut/partition.h"
#include "libcore/data/data.h"

namespace kasen {

struct BundleInfo {
  std::string digest;  ///< of the manifest's content: names the bundle in plans and run reports; set by writing
  int workers = 1;
  /// It holds dense arrays alone, each whole, so that any number of workers may read it; `workers` is that of a run
  /// which asks for none. Set by writing.
  bool any_workers = false;
  std::string method;  ///< "block", "hybrid-cut", "ml"
  std::int64_t theta = 0;
  std::string hash{owner_hash_name};    ///< how hybrid-cut hashes indices
  std::vector<std::string> sources;     ///< file names with digests
  std::vector<std::string> notes;       ///< reported at its making: PartitionOptions::notes, why auto chose a method
  std::vector<std::string> read_notes;  ///< how the data were read, such as rows that were left out
  /// Arrays that stay in files of the user's, as PartitionOptions::stored gives them. The bundle keeps the files' paths
  /// and digests, and is read only where they are as they were.
  std::map<std::string, StoredTable> stored;
  std::vector<std::string> dims;  ///< the program's, in its order (elements `id[N]` count in it); empty: by name
  Dictionary dictionaries;        ///< of columns of words
  DimNames names;                 ///< of the indices of dimensions that are columns of a table with names
  BundleStatistics statistics;    ///< set by writing
};

/// Checks that a BundleWriter may write there, before the data are read. UserError(cannot_create): `path` exists, or
/// with `replace` is neither a bundle nor an empty folder.
void require_writable_bundle(const std::string& path, bool replace);

/// Writes a bundle part by part, so that each part can be freed once it is written. Everything goes to a temporary
/// folder beside `path`; finish() writes the manifest, syncs and renames. Without finish() nothing is left behind, and
/// an old bundle stays. `path` must not exist unless `replace` is set. Then only a bundle or an empty folder is
/// replaced, and it stays whole until the new one is complete. UserError: cannot_create, io.
class BundleWriter {
 public:
  BundleWriter(const std::string& path, const BundleInfo& info, bool replace, Sync sync = Sync::yes);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  /// Before the first part: elements that parts lack, of PartitionOptions::later. They are made while they are written,
  /// so errors of their files show then.
  void put_off(const LaterTables& tables);
  void add(const Part& part);  ///< each worker once, in any order
  /// The same of a part without its entries, which go from spill files straight to the part's file. Consumes `spilled`.
  void add(Part& part, SpilledMatrices& spilled);
  [[nodiscard]] BundleInfo finish();  ///< as read_bundle_info gives it from now on

 private:
  void add_part(const Part& part, SpilledMatrices* spilled);

  struct State;
  std::unique_ptr<State> state_;
};

/// Writes all parts at once, with a BundleWriter.
BundleInfo write_bundle(const std::string& path, const std::vector<Part>& parts, const BundleInfo& info, bool replace);
/// Reads manifest.json alone. Here and below, `workers` is the number that a bundle of any_workers is read for, 0 for
/// that of the bundle. UserError: missing_input (no such folder), bad_input, usage (a bundle of another number).
[[nodiscard]] BundleInfo read_bundle_info(const std::string& path, int workers = 0);
/// The dictionary of a bundle (a folder), or of a file that dictionary_text made. UserError: missing_input, bad_input,
/// io.
[[nodiscard]] Dictionary dictionary_at(const std::string& path);
/// How parts are read.
struct PartsWanted {
  int workers = 0;
  /// Dense arrays that are whole in a file are the file's own pages where they lie as in memory, and the caller calls
  /// mapped->check() when it has read them for the last time. Without it they are copied.
  MappedTables* mapped = nullptr;
  /// Whether an array that is whole in a file, or the nonzeros of a matrix, stay there, so that they need not fit into
  /// memory: PartArray::on_disk, PartMatrix::on_disk. The digests of their blocks are compared whenever these are read.
  /// Null: none does.
  std::function<bool(const std::string& input)> streamed = nullptr;
  /// Of a bundle of any_workers: whether elements of `count` indices from `first` on, along the dimension that cuts the
  /// array, are read (all of them if none does). The arrays of other parts stay empty. Without it all are read.
  std::function<bool(const std::string& array, std::int64_t first, std::int64_t count)> elements = nullptr;
};
/// Reads parts first .. first + count - 1. Each file is checked against the manifest's digests (of an array that is
/// whole in a file, the blocks that are read), then its structure, then its content. So no content can lead outside of
/// an array later. UserError: missing_input, bad_input, limit.
[[nodiscard]] std::vector<Part> read_parts(const std::string& path, int first, int count,
                                           const PartsWanted& wanted = {});
/// Whether the arrays that stay in files of the user's have the content that the bundle was made of. UserError as
/// read_parts, but for a file that is another one now.
[[nodiscard]] bool stored_arrays_hold(const std::string& path);
/// A part without the elements of its arrays and the values of its matrices: these are empty (of compressed arrays the
/// bytes are there). It has the owners, the mirrors and the positions of nonzeros, from which sizes follow. Structure,
/// length and lists are checked, but not the file's digest: a computation with a part reads all of it. UserError as
/// read_parts.
[[nodiscard]] Part read_part_lists(const std::string& path, int worker, int workers = 0);
/// The same for every worker's part, one after another, passed to `take`.
void read_all_lists(const std::string& path, const std::function<void(Part&)>& take, int workers = 0);
/// The dimensions as every worker has them: element w is Part::dims of worker w. They come from the bundle's files,
/// without the arrays. UserError as read_parts.
using DimsOfWorkers = std::vector<std::map<std::string, PartDim>>;
[[nodiscard]] DimsOfWorkers read_dims(const std::string& path, int workers = 0);
/// The output of `kasen partition --stats`: how the bundle was made, its digest and its statistics.
[[nodiscard]] std::string bundle_text(const BundleInfo& info);

}  // namespace kasen
