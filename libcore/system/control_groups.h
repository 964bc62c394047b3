// The control groups of this process: a Slurm job, a container, a systemd slice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kasen {

struct ControlGroup {
  std::string folder;    // has the group's files; ends with '/'
  bool unified = false;  // of version 2
};

// The groups of one controller ("memory", "cpu"), of both versions. Each comes before the groups around it, whose
// limits also hold. They are read from the files below `root` (tests have their own files).
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root = "");

}  // namespace kasen
