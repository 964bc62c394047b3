#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "libcore/base/count_text.h"
#include "libcore/system/memory_limit.h"
#include "libcore/system/processors.h"
#include "libopt/time/machine.h"
#include "tools/doctor/checks.h"
#include "tools/machine/machine_file.h"
#include "tools/system/shared_segments.h"

namespace kasen::tools {
namespace {

constexpr double mib = 1 << 20, gib = 1 << 30;

std::string size_text(double bytes) {
  return bytes < gib ? fmt::format("{:.3g} MiB", bytes / mib) : fmt::format("{:.3g} GiB", bytes / gib);
}

// The value of "MemTotal" or another key, in bytes; 0 where it is not reported.
double meminfo(const Patient& patient, const std::string& key) {
  std::ifstream file(patient.root + "/proc/meminfo");
  std::string word;
  double kilobytes = 0;
  while (file >> word) {
    if (word == key + ':' && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// Numbers in memory of their own, in huge pages where the system has them.
class MappedBlock {
 public:
  explicit MappedBlock(size_t bytes)
      : bytes_(bytes), at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (at_ != MAP_FAILED) (void)madvise(at_, bytes, MADV_HUGEPAGE);
  }
  ~MappedBlock() {
    if (at_ != MAP_FAILED) munmap(at_, bytes_);
  }
  MappedBlock(const MappedBlock&) = delete;
  MappedBlock& operator=(const MappedBlock&) = delete;
  [[nodiscard]] bool there() const { return at_ != MAP_FAILED; }
  [[nodiscard]] std::uint64_t* numbers() const { return static_cast<std::uint64_t*>(at_); }

 private:
  size_t bytes_;
  void* at_;
};

// Eight sums at a time, so that the thread waits only for memory.
std::uint64_t sum_of(const std::uint64_t* numbers, size_t count) {
  std::array<std::uint64_t, 8> sums{};
  for (size_t i = 0; i + sums.size() <= count; i += sums.size()) {
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += numbers[i + k];
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Each thread does its share of `work(first, last)` over so many numbers.
void in_threads(int threads, size_t count, const std::function<void(int, size_t, size_t)>& work) {
  std::vector<std::jthread> running;
  const auto place = [&](int t) { return count * static_cast<size_t>(t) / static_cast<size_t>(threads); };
  for (int t = 0; t < threads; ++t) running.emplace_back([&, t] { work(t, place(t), place(t + 1)); });
}

// Bytes a second that all threads read together; the best of some repetitions within half a second.
double read_bandwidth(int threads, size_t bytes) {
  const MappedBlock block(bytes);
  if (!block.there()) return 0;
  const size_t count = bytes / sizeof(std::uint64_t);
  in_threads(threads, count, [&](int, size_t first, size_t last) {
    std::iota(block.numbers() + first, block.numbers() + last, first);
  });
  std::vector<std::uint64_t> sums(static_cast<size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  double best = 0;
  for (int iteration = 0; iteration < 3 || std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300);
       ++iteration) {
    const auto began = std::chrono::steady_clock::now();
    in_threads(threads, count, [&](int t, size_t first, size_t last) {
      sums[static_cast<size_t>(t)] = sum_of(block.numbers() + first, last - first);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    // The sums are used, or a compiler might leave them out.
    if (std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}) != 0)
      best = std::max(best, static_cast<double>(bytes) / took.count());
  }
  return best;
}

}  // namespace

Finding check_memory(const Patient& patient) {
  const double total = meminfo(patient, "MemTotal");
  double left = meminfo(patient, "MemAvailable");
  const auto group = group_memory(patient.root);
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  std::string what = fmt::format("{} available of {}", size_text(left), size_text(total)), remedy;
  if (group && static_cast<double>(*group) < left) {
    left = static_cast<double>(*group);
    what += fmt::format("; the control group leaves {}", size_text(left));
    remedy = "ask for more (the batch job's --mem, docker run --memory)";
  }
  if (limited && static_cast<double>(limit.rlim_cur) < left) {
    left = static_cast<double>(limit.rlim_cur);
    what += fmt::format("; ulimit -v leaves {}", size_text(left));
    remedy = "ulimit -v unlimited";
  }
  if (left < 64 * mib) return {Verdict::broken, what, remedy.empty() ? "end other programs" : remedy};
  return {remedy.empty() ? Verdict::ok : Verdict::better, what, remedy};
}

Finding check_huge_pages(const Patient& patient) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto setting = patient.line(path);
  if (!setting) {
    return {Verdict::better,
            "the kernel has no transparent huge pages: large arrays are read at half the speed or less",
            "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE"};
  }
  if (setting->find("[never]") == std::string::npos) return {Verdict::ok, *setting, ""};
  return {Verdict::better, *setting + ": large arrays are read at half the speed or less",
          fmt::format("echo madvise > {} (as root)", path)};
}

Finding check_shared_memory(const Patient& patient) {
  struct statvfs info {};
  const std::string folder = patient.root + "/dev/shm";
  if (statvfs(folder.c_str(), &info) != 0) {
    return {Verdict::better, "there is no /dev/shm: ranks of one machine exchange by slower ways",
            "mount -t tmpfs none /dev/shm"};
  }
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  std::string what = fmt::format("{} free in /dev/shm", size_text(free));
  if (const std::string left = left_jobs_text(folder); !left.empty()) what += "; " + left;
  if (const auto left = left_segments(patient.root, 0); !left.empty()) {
    double bytes = 0;
    std::string names;
    constexpr size_t shown = 8;  // more names do not show the problem better
    for (size_t i = 0; i < left.size(); ++i) {
      bytes += static_cast<double>(left[i].bytes);
      if (i < shown) names += ' ' + left[i].path;
    }
    if (left.size() > shown) names += fmt::format(" (and {} more, listed once these are gone)", left.size() - shown);
    what += fmt::format("; jobs of MPI that were killed left {} of {} there", count_text(left.size(), "file"),
                        size_text(bytes));
    return {Verdict::better, what, "rm" + names};
  }
  if (free >= 256 * mib) return {Verdict::ok, what, ""};
  return {Verdict::better, what + ": little for many ranks of one machine, which exchange there",
          "docker run --shm-size=1g, or mount -o remount,size=1g /dev/shm (as root); old files there may be removed"};
}

Finding check_bandwidth(const Patient& patient) {
  const MachineProfile machine = patient.machine.empty() ? MachineProfile{} : read_machine(patient.machine);
  const auto room = available_memory();
  const size_t bytes = 256 << 20;
  if (room && *room < 1 << 30) return {Verdict::ok, "not measured: less than 1 GiB is left", ""};
  const int threads = std::min(usable_threads(), 64);
  const double measured = read_bandwidth(threads, bytes), expected = machine.memory_bandwidth;
  const std::string what =
      fmt::format("{:.3g} GB/s read by {} threads; plans are made for {:.3g} GB/s ({})", measured / 1e9, threads,
                  expected / 1e9, patient.machine.empty() ? "built in" : patient.machine);
  if (patient.machine.empty() || (measured > expected / 2 && measured < expected * 2)) return {Verdict::ok, what, ""};
  return {Verdict::better, what + ": the profile is of another machine, or something else uses the memory now",
          "kasen measure --calibrate -o " + patient.machine};
}

}  // namespace kasen::tools
