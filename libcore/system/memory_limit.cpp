#include "libcore/system/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <string_view>

#include "libcore/system/control_groups.h"

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

// The names of the files in one version of control groups.
struct GroupFiles {
  std::string_view limit, used, droppable;
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

// Empty if the file does not exist or says "max".
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

std::optional<std::int64_t> left_in(const ControlGroup& group) {
  const GroupFiles& files = group.unified ? version_2 : version_1;
  const auto limit = number_in(group.folder + std::string(files.limit));
  const auto used = number_in(group.folder + std::string(files.used));
  if (!limit || !used) return std::nullopt;
  return std::max<std::int64_t>(0, *limit - *used + droppable_in(group.folder + "memory.stat", files.droppable));
}

std::atomic<std::int64_t> set_memory{-1};  // none

std::optional<std::int64_t> least_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

std::optional<std::int64_t> group_memory(const std::string& root) {
  std::optional<std::int64_t> least;
  for (const ControlGroup& group : control_groups("memory", root)) least = least_of(least, left_in(group));
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

std::optional<std::int64_t> resident_memory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  if (statm >> size >> resident) return resident * sysconf(_SC_PAGESIZE);
  return std::nullopt;
}

std::int64_t most_resident_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * static_cast<std::int64_t>(usage.ru_maxrss) : 0;
}

void set_available_memory(std::int64_t bytes) { set_memory = bytes; }

}  // namespace kasen
