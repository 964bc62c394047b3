#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "libcore/base/count_text.h"
#include "libcore/system/hardware.h"
#include "libcore/system/processors.h"
#include "tools/doctor/checks.h"

namespace kasen::tools {
namespace {

const Hardware& machine() {
  static const Hardware found = hardware();
  return found;
}

// The threads that a run without --threads starts where it is alone.
std::string threads_text(int most) {
  const int asked = threads_of_environment();
  const int threads = asked > 0 ? std::min(asked, most) : most;
  return fmt::format("a run starts {} unless --threads says otherwise{}", count_text(threads, "thread"),
                     asked > 0 ? " (OMP_NUM_THREADS, SLURM_CPUS_PER_TASK)" : "");
}

}  // namespace

Finding check_cores(const Patient& patient) {
  const int allowed = allowed_processors(), there = std::max(allowed, machine().processors);
  const std::optional<GroupTime> quota = group_time(patient.root);
  if (quota && quota->processors < allowed) {
    return {Verdict::better,
            fmt::format("{}, but the control group gives the time of {:.3g}; {}", count_text(allowed, "processor"),
                        quota->processors, threads_text(std::max(1, static_cast<int>(quota->processors)))),
            "ask for more (docker run --cpus, the batch job's --cpus-per-task)"};
  }
  if (allowed < there) {
    return {Verdict::better,
            fmt::format("{} of {} processors: this shell or job is bound to them; {}", allowed, there,
                        threads_text(allowed)),
            "taskset -p shows the mask; a batch job asks for more by --cpus-per-task; under mpirun, --bind-to none"};
  }
  return {Verdict::ok,
          fmt::format("{}, all of them allowed; {}", count_text(there, "processor"), threads_text(allowed)), ""};
}

Finding check_threads(const Patient& /*patient*/) {
  if (machine().cores == 0 || machine().cores >= machine().processors)
    return {Verdict::ok, "one thread a core, or the machine does not report it", ""};
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
  if (!governor) return {Verdict::ok, "the machine does not report it (virtual machines do not)", ""};
  if (*governor == "performance") return {Verdict::ok, "performance", ""};
  return {Verdict::better, fmt::format("{}: the clock goes up only after a while, so that times vary", *governor),
          "cpupower frequency-set -g performance (as root)"};
}

}  // namespace kasen::tools
