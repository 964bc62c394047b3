#include "libcore/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <string_view>

namespace kasen {
namespace {

std::optional<std::int64_t> machine_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t kilobytes = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

std::optional<std::int64_t> address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
}

// Where the files of a version of control groups stand, and what they are called.
struct GroupFiles {
  std::string_view folder, limit, used, droppable;
};
constexpr GroupFiles version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

// Nothing where the file is not there or says "max".
std::optional<std::int64_t> number_in(const std::string& file) {
  std::int64_t number = 0;
  std::ifstream stream(file);
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::int64_t droppable_in(const std::string& file, std::string_view name) {
  std::ifstream stream(file);
  std::string word;
  std::int64_t number = 0;
  while (stream >> word >> number)
    if (word == name) return number;
  return 0;
}

// What the group at `path` and those around it leave.
std::optional<std::int64_t> left_in(const std::string& root, const GroupFiles& files, std::string path) {
  std::optional<std::int64_t> least;
  for (bool more = true; more; path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) {
    more = !path.empty();
    std::string folder = root;
    folder.append(files.folder).append(path).append(1, '/');
    const auto limit = number_in(folder + std::string(files.limit));
    const auto used = number_in(folder + std::string(files.used));
    if (!limit || !used) continue;
    const std::int64_t held = *used - droppable_in(folder + "memory.stat", files.droppable);
    const std::int64_t left = std::max<std::int64_t>(0, *limit - held);
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

std::atomic<std::int64_t> set_memory{-1};  // none

std::optional<std::int64_t> least_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

// A line is `number:controllers:path`; version 2 has the number 0 and names no controllers.
std::optional<std::int64_t> group_memory(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<std::int64_t> least;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    std::string path = line.substr(second + 1);
    if (path.ends_with('/')) path.pop_back();
    if (controllers == ",,")
      least = least_of(least, left_in(root, version_2, path));
    else if (controllers.find(",memory,") != std::string::npos)
      least = least_of(least, left_in(root, version_1, path));
  }
  return least;
}

std::optional<std::int64_t> available_memory() {
  if (const std::int64_t set = set_memory; set >= 0) return set;
  return least_of(least_of(machine_memory(), address_space()), group_memory());
}

std::optional<std::int64_t> shared_memory() {
  if (const std::int64_t set = set_memory; set >= 0) return set;
  return least_of(machine_memory(), group_memory());
}

void set_available_memory(std::int64_t bytes) { set_memory = bytes; }

}  // namespace kasen
