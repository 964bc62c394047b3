#include "tools/launch/mpirun_start.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/system/processors.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

constexpr bool is_mpich = KASEN_MPICH != 0;

void allow_limit(decltype(RLIMIT_NOFILE) kind, rlim_t needed, const std::string& of_what, const std::string& remedy) {
  rlimit limit{};
  if (getrlimit(kind, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed)
    fail(ExitStatus::limit, fmt::format("mpirun needs {} {}", needed, of_what),
         fmt::format("{} are allowed", limit.rlim_max), remedy + ", or run without -n");
  limit.rlim_cur = needed;
  (void)setrlimit(kind, &limit);
}

}  // namespace

void prepare_for_mpirun(int ranks) {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  setenv("OMPI_MCA_orte_abort_timeout", "5", 0);
  setenv("OMPI_MCA_orte_forward_job_control", "1", 0);
  setenv("PATH", "/usr/bin:/bin", 0);  // without it, mpirun looks for its parts nowhere
  // It hangs where it lacks these while it starts.
  constexpr rlim_t its_own = 48, a_rank = 5, largest_file = 5 << 20;
  allow_limit(RLIMIT_NOFILE, its_own + a_rank * static_cast<rlim_t>(ranks),
              fmt::format("open files for {} ranks", ranks), "raise 'ulimit -n'");
  allow_limit(RLIMIT_FSIZE, largest_file, "bytes in a file that its ranks share", "raise 'ulimit -f'");
}

std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& arguments,
                                     const std::string& preloaded) {
  const bool preloads = std::getenv("LD_PRELOAD") != nullptr;
  const std::string number = std::to_string(ranks);
  std::vector<std::string> line;
  if (is_mpich) {
    line = {KASEN_MPIRUN, "-n", number, "-bind-to", "none"};
    if (preloads) line.insert(line.end(), {"-genv", "LD_PRELOAD", preloaded});
  } else {
    line = {KASEN_MPIRUN, "-q", "-n", number, "--bind-to", "none"};
    if (ranks > allowed_processors()) line.emplace_back("--oversubscribe");
    if (preloads) line.insert(line.end(), {"-x", "LD_PRELOAD=" + preloaded});
  }
  line.insert(line.end(), {tool_folder() + "/kasen-run", "--as-rank"});  // behind a "--" it would be a name
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

}  // namespace kasen::tools
