// The bundle: a folder with one HDF5 file a part and manifest.json, written last (docs/bundle.md).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/data/data.h"

namespace kasen {

struct BundleInfo {
  std::string digest;  // of the manifest's content: names the bundle in plans and run reports; made by writing
  int workers = 1;
  std::string method;  // "block", "hybrid-cut", "ml"
  std::int64_t theta = 0;
  std::string hash{owner_hash_name};  // how hybrid-cut hashes indices
  std::vector<std::string> sources;   // file names with digests
  std::vector<std::string> notes;  // what was said when it was made: PartitionOptions::notes, why auto chose a method
  std::vector<std::string> dims;   // the program's, in its order (elements `id[N]` count in it); empty: by name
  Dictionary dictionaries;         // of columns of words
  BundleStatistics statistics;     // made by writing
};

// Writes a bundle part by part, so that each part can be freed once it is written. Everything goes to a temporary
// folder beside `path`; finish() writes the manifest, syncs and renames. Without finish() nothing is left behind and
// what was there stays. `path` must not exist unless `replace` (then only a bundle or an empty folder is replaced, and
// it stays whole until the new one is complete). UserError: cannot_create, io.
class BundleWriter {
 public:
  BundleWriter(const std::string& path, const BundleInfo& info, bool replace);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  void add(const Part& part);         // each worker once, in any order
  [[nodiscard]] BundleInfo finish();  // as read_bundle_info gives it from now on

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All at once, with a BundleWriter.
BundleInfo write_bundle(const std::string& path, const std::vector<Part>& parts, const BundleInfo& info, bool replace);
// Reads manifest.json alone. UserError: missing_input (no such folder), bad_input.
[[nodiscard]] BundleInfo read_bundle_info(const std::string& path);
// Of a bundle (a folder), or of a file that dictionary_text made. UserError: missing_input, bad_input, io.
[[nodiscard]] Dictionary dictionary_at(const std::string& path);
// Reads parts first .. first + count - 1: each file against the manifest's digest, then its structure, then its
// content, so that nothing a file says can lead outside of an array later. UserError: missing_input, bad_input, limit.
[[nodiscard]] std::vector<Part> read_parts(const std::string& path, int first, int count);
// A part without what its arrays and its matrices' values hold (they are empty; of compressed arrays their bytes are
// there): who owns and mirrors what, and where entries stand, which is what sizes are told by. Structure, length and
// lists are checked, not the file's digest: who computes with a part reads all of it. UserError as read_parts.
[[nodiscard]] Part read_part_lists(const std::string& path, int worker);
// The same of every worker's part, one after another, for `take`.
void read_all_lists(const std::string& path, const std::function<void(const Part&)>& take);
// The dimensions as every worker has them: element w is Part::dims of worker w. From the bundle's files, without its
// arrays. UserError as read_parts.
using DimsOfWorkers = std::vector<std::map<std::string, PartDim>>;
[[nodiscard]] DimsOfWorkers read_dims(const std::string& path);
// What `kasen partition --stats` prints: how the bundle was made, its digest and its statistics.
[[nodiscard]] std::string bundle_text(const BundleInfo& info);

}  // namespace kasen
