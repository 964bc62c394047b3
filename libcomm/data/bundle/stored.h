// Arrays that are whole in a file: the bundle's own, or one of the user's; private to the bundle.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/base/stored_table.h"
#include "libcomm/data/bundle/manifest.h"

namespace kasen {

// Takes the digests of the users' files for the manifest. UserError: missing_input, io; bad_input: a file has changed.
void take_stored_digests(Manifest& manifest);
// Digests that stand one behind the other.
[[nodiscard]] std::vector<std::string> split_digests(const std::string& digests);

// The files of all such arrays, open for several parts.
class StoredArrays {
 public:
  // Checks all but the elements. UserError: missing_input, io; bad_input: a file is not as it was.
  StoredArrays(const Manifest& manifest, const std::string& folder);
  ~StoredArrays();
  StoredArrays(const StoredArrays&) = delete;
  StoredArrays& operator=(const StoredArrays&) = delete;
  // Brings parts' elements into memory, or maps them, and checks the digests of the blocks that have them. UserError.
  void load(std::vector<Part>& parts, const PartsWanted& wanted) const;
  // Whether all elements have their digests still. UserError.
  [[nodiscard]] bool hold() const;

 private:
  struct Source;  // a file, and the arrays that it has
  const Manifest& manifest_;
  std::vector<Source> sources_;
};

}  // namespace kasen
