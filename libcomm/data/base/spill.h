// Room on a disk for arrays that memory has no room for. Its files are the user's alone and have no name: whatever
// ends the process, nothing is left behind.
#pragma once

#include <string>

#include "libcore/data/disk_elements.h"

namespace kasen {

// $TMPDIR, or /var/tmp: /tmp often is memory.
[[nodiscard]] std::string spill_folder();

class SpillFolder final : public Tier {
 public:
  // Files go to this folder.
  explicit SpillFolder(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::shared_ptr<SpilledElements> make(const ElementType& element, std::int64_t capacity) override;

 private:
  std::string folder_;
};

}  // namespace kasen
