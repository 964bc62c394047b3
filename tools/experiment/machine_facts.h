// The machine and the versions that an experiment runs with.
#pragma once

#include <string>

#include "tools/experiment/rows.h"

namespace kasen::tools {

[[nodiscard]] Json host_facts();      // name, processor, cores, memory, kernel
[[nodiscard]] Json built_versions();  // kasen, compiler, MPI, HDF5, LLVM, as built
[[nodiscard]] std::string utc_now();  // 2026-01-31T13:45:07Z

}  // namespace kasen::tools
