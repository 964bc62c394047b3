// What Open MPI needs to start ranks of kasen-run.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

// The environment and this process's limits, which mpirun inherits. UserError(limit): they are too low.
void prepare_for_mpirun(int ranks);

// `arguments`: what each rank gets; `preloaded`: its LD_PRELOAD.
[[nodiscard]] std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& arguments,
                                                   const std::string& preloaded);

}  // namespace kasen::tools
