// The control groups that this process is in: a Slurm job, a container, a systemd slice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kasen {

struct ControlGroup {
  std::string folder;    // with the group's files; ends with '/'
  bool unified = false;  // of version 2
};

// The groups of one controller ("memory", "cpu"), of both versions, each before those around it: their limits hold,
// too. By the files below `root` (tests have some of their own).
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root = "");

}  // namespace kasen
