// The environment, limits and command line with which Open MPI, or MPICH in a build with it, starts ranks of kasen-run.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

// Sets the environment and this process's limits, which mpirun inherits. UserError(limit): they are too low.
void prepare_for_mpirun(int ranks);

// `arguments`: those of each rank; `preloaded`: its LD_PRELOAD.
[[nodiscard]] std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& arguments,
                                                   const std::string& preloaded);

}  // namespace kasen::tools
