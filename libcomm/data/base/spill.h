// Room on a disk for arrays that memory has no room for. Its files are the user's alone and have no name: whatever
// ends the process, nothing is left behind.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/base/error.h"
#include "libcore/data/disk_elements.h"

namespace kasen {

// $TMPDIR, or /var/tmp: /tmp often is memory.
[[nodiscard]] std::string spill_folder();

// An open file without a name in this folder, for reading and writing. UserError(cannot_create); -1 with EINVAL where
// the folder cannot have one with these further flags.
[[nodiscard]] int open_spill_file(const std::string& folder, int flags);
// errno says why a file there cannot be made, opened, mapped or used; with the remedies.
[[noreturn]] void fail_spill(const std::string& folder, const char* what, ExitStatus status);
// What was read from there is not what was written: UserError(io).
[[noreturn]] void fail_altered_spill(const std::string& folder);

class SpillFolder final : public Tier {
 public:
  // Files go to this folder.
  explicit SpillFolder(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::shared_ptr<SpilledElements> make(const ElementType& element, std::int64_t capacity) override;

 private:
  std::string folder_;
};

}  // namespace kasen
