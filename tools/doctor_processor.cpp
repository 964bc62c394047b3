#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "tools/doctor_checks.h"

namespace kasen::tools {
namespace {

// "0-3,8" : 5
int count_of(const std::string& list) {
  int count = 0;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    char dash = 0;
    std::istringstream numbers(range);
    if (!(numbers >> first)) continue;
    int last = first;
    if (numbers >> dash) numbers >> last;
    count += last - first + 1;
  }
  return count;
}

// Processors' worth of time that the control groups around this process leave it, of both versions.
std::optional<double> group_quota(const Patient& patient) {
  std::ifstream groups(patient.root + "/proc/self/cgroup");
  std::optional<double> least;
  const auto take = [&](const std::string& quota, const std::string& period) {
    const double of = std::atof(quota.c_str()), in = std::atof(period.c_str());
    if (of > 0 && in > 0) least = std::min(least.value_or(of / in), of / in);
  };
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    for (std::string path = line.substr(second + 1); !path.empty();
         path = path == "/" ? "" : path.substr(0, std::max<size_t>(path.rfind('/'), 1))) {
      const std::string folder = (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu") + path + '/';
      if (unified) {
        std::istringstream max(patient.line(folder + "cpu.max").value_or(""));
        std::string quota, period;
        if (max >> quota >> period) take(quota, period);
      } else {
        take(patient.line(folder + "cpu.cfs_quota_us").value_or("-1"),
             patient.line(folder + "cpu.cfs_period_us").value_or("0"));
      }
    }
  }
  return least;
}

}  // namespace

int allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&set);
}

Finding check_cores(const Patient& patient) {
  const int allowed = allowed_cores(),
            there = std::max(allowed, count_of(patient.line("/sys/devices/system/cpu/online").value_or("")));
  const std::optional<double> quota = group_quota(patient);
  if (quota && *quota < allowed) {
    return {
        Verdict::better,
        fmt::format("{} processors, but the control group gives the time of {:.3g}: threads beyond that stand still "
                    "for a part of each period",
                    allowed, *quota),
        fmt::format("kasen run --threads {}, or ask for more (docker run --cpus, the batch job's --cpus-per-task)",
                    std::max(1, static_cast<int>(*quota)))};
  }
  if (allowed < there) {
    return {Verdict::better, fmt::format("{} of {} processors: this shell or job is bound to them", allowed, there),
            "taskset -p shows the mask; a batch job asks for more by --cpus-per-task; under mpirun, --bind-to none"};
  }
  return {Verdict::ok, fmt::format("{} processors, all of them allowed", there), ""};
}

Finding check_threads(const Patient& patient) {
  const bool active = patient.line("/sys/devices/system/cpu/smt/active").value_or("0") == "1";
  if (!active) return {Verdict::ok, "one thread a core, or the machine does not tell", ""};
  return {Verdict::ok, "several hardware threads a core: --threads with the number of cores may be as fast", ""};
}

Finding check_vectors(const Patient& patient) {
  std::ifstream file(patient.root + "/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(file, line) && flags.empty();) {
    if (line.starts_with("flags")) flags = line + ' ';
  }
  const auto has = [&](const char* flag) { return flags.find(fmt::format(" {} ", flag)) != std::string::npos; };
  if (has("avx512f")) return {Verdict::ok, "AVX-512: vectors of 8 doubles", ""};
  if (has("avx2") && has("fma")) return {Verdict::ok, "AVX2 with FMA: vectors of 4 doubles", ""};
  if (flags.empty()) return {Verdict::ok, "/proc/cpuinfo names no flags; kernels are compiled for what LLVM finds", ""};
  return {
      Verdict::better, "neither AVX-512 nor AVX2 with FMA: vectors of 2 doubles, kernels are slow where they compute",
      "a virtual machine may hide them: let it pass the host's processor on (qemu -cpu host); results stay the same"};
}

Finding check_governor(const Patient& patient) {
  const auto governor = patient.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor) return {Verdict::ok, "the machine does not tell (virtual machines do not)", ""};
  if (*governor == "performance") return {Verdict::ok, "performance", ""};
  return {Verdict::better, fmt::format("{}: the clock goes up only after a while, so that times vary", *governor),
          "cpupower frequency-set -g performance (as root)"};
}

}  // namespace kasen::tools
