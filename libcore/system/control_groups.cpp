#include "libcore/system/control_groups.h"

#include <fstream>

namespace kasen {

// A line is `number:controllers:path`; version 2 has the number 0 and names no controllers.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  std::ifstream lines(root + "/proc/self/cgroup");
  const std::string name(controller);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(',' + name + ',') == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    if (path.ends_with('/')) path.pop_back();
    const std::string top = root + "/sys/fs/cgroup" + (unified ? "" : '/' + name);
    for (bool more = true; more; path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) {
      more = !path.empty();
      groups.push_back({top + path + '/', unified});
    }
  }
  return groups;
}

}  // namespace kasen
