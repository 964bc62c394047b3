// kasen-run --machine-profile: measures computing and memory of this machine with generated kernels.
#pragma once

#include <string>

namespace kasen::tools {

// The keys of a machine profile (libopt/time/machine.h) but for the network's, with this many threads. Small programs
// are planned and run like any other, and the steps that matter are timed. Takes some ten seconds and 1 GiB of memory.
[[nodiscard]] std::string machine_profile(int threads);

}  // namespace kasen::tools
