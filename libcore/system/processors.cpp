#include "libcore/system/processors.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "libcore/system/control_groups.h"

namespace kasen {
namespace {

std::optional<double> processors_of(const ControlGroup& group) {
  double quota = 0, period = 0;
  if (group.unified) {
    std::ifstream(group.folder + "cpu.max") >> quota >> period;  // "max" is not a number
  } else {
    std::ifstream(group.folder + "cpu.cfs_quota_us") >> quota;  // -1: none
    std::ifstream(group.folder + "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

std::int64_t number_of(const ControlGroup& group) {
  struct stat info {};
  return stat(group.folder.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_ino) : 0;
}

int first_number(const char* text) {
  if (text == nullptr) return 0;
  const std::string_view given(text);
  int number = 0;
  const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), number);
  const bool whole = end == given.data() + given.size() || *end == ',';
  return fault == std::errc() && whole && number > 0 ? number : 0;
}

std::atomic<int> set_threads{0};  // none

}  // namespace

// By one system call: hwloc gives the same answer once it has opened its plug-ins, which is milliseconds in each tool
// and rank that reads data.
ProcessorMask allowed_mask() {
  ProcessorMask mask{};
  if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) mask.fill(0);
  return mask;
}

int allowed_processors() {
  int count = 0;
  for (const std::int64_t word : allowed_mask()) count += std::popcount(static_cast<std::uint64_t>(word));
  return count > 0 ? count : static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<GroupTime> group_time(const std::string& root) {
  std::optional<GroupTime> least;
  for (const ControlGroup& group : control_groups("cpu", root)) {
    const std::optional<double> processors = processors_of(group);
    if (processors && (!least || *processors < least->processors)) least = GroupTime{*processors, number_of(group)};
  }
  return least;
}

int threads_of_environment() {
  const int openmp = first_number(std::getenv("OMP_NUM_THREADS"));
  return openmp > 0 ? openmp : first_number(std::getenv("SLURM_CPUS_PER_TASK"));
}

int usable_threads() {
  if (const int set = set_threads; set > 0) return set;
  static const std::optional<GroupTime> time = group_time();  // called often
  int most = allowed_processors();
  if (time && time->processors < most) most = std::max(1, static_cast<int>(time->processors));
  const int asked = threads_of_environment();
  return asked > 0 ? std::min(asked, most) : most;
}

void set_usable_threads(int threads) { set_threads = threads; }

}  // namespace kasen
