// The bundle: a folder with one HDF5 file a part and manifest.json, written last (docs/bundle.md).
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/partition.h"
#include "libcore/data.h"

namespace kasen {

struct BundleInfo {
  std::string digest;         // of the manifest's content: names the bundle in plans and run reports
  int workers = 1;
  std::string method;         // "block", "hybrid-cut"
  std::int64_t theta = 0;
  std::vector<std::string> sources;
  BundleStatistics statistics;
};

// Writes into a temporary folder beside `path`, syncs, renames; `path` must not exist unless `replace`. On any failure
// nothing is left behind and what was there stays. UserError: cannot_create, io.
void write_bundle(const std::string& path, const std::vector<Part>& parts, const BundleInfo& info, bool replace);
// Reads manifest.json alone. UserError: missing_input, bad_input.
[[nodiscard]] BundleInfo read_bundle_info(const std::string& path);
// Reads and checks parts first .. first + count - 1 against the manifest's digests.
[[nodiscard]] std::vector<Part> read_parts(const std::string& path, int first, int count);

}  // namespace kasen
