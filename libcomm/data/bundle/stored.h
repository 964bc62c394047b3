// The arrays of a bundle that stay in files of the user's; private to the bundle.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "libcomm/data/base/stored_table.h"
#include "libcomm/data/bundle/manifest.h"

namespace kasen {

// Takes the digests of workers' elements for the manifest, which has the facts of these workers and all before them.
class StoredDigests {
 public:
  void take(Manifest& manifest, int worker);  // UserError: missing_input, io; bad_input: the file has changed

 private:
  std::map<std::string, StoredFile> files_;    // by array
  std::map<std::string, std::string> of_all_;  // by array: its digest, if each worker has all of it
};

// The files of all such arrays, open for several parts.
class StoredArrays {
 public:
  // Checks all but the elements. UserError: missing_input, io; bad_input: a file is not as it was.
  explicit StoredArrays(const Manifest& manifest);
  // Brings a part's elements into memory, or maps them where there is a list of mapped ones, and checks their digests.
  // UserError.
  void load(Part& part, MappedTables* mapped) const;
  // Whether a worker's elements have their digests still. UserError.
  [[nodiscard]] bool hold(int worker) const;

 private:
  const Manifest& manifest_;
  std::map<std::string, std::shared_ptr<const StoredFile>> files_;  // by array
};

}  // namespace kasen
