// The environment, limits and command line with which Open MPI, or MPICH in a build with it, starts ranks of kasen-run.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

// Sets the environment and this process's limits, which mpirun inherits. UserError(limit): they are too low.
void prepare_for_mpirun(int ranks);

// The words of --mpirun, as a shell divides them: '' and "" hold spaces. UserError(usage): a quote without an end, or
// an option that kasen-run gives itself.
[[nodiscard]] std::vector<std::string> mpirun_words(const std::string& options);

// `own`: the user's options; `arguments`: those of each rank; `preloaded`: its LD_PRELOAD. Ranks are bound to nothing
// unless the user's options or environment say how.
[[nodiscard]] std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& own,
                                                   const std::vector<std::string>& arguments,
                                                   const std::string& preloaded);
// The line as one would type it in a shell.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace kasen::tools
