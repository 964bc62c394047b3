#include "tools/launch/mpirun_start.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "libcore/base/error.h"
#include "libcore/system/processors.h"
#include "tools/launch/mpi_names.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

void allow_limit(decltype(RLIMIT_NOFILE) kind, rlim_t needed, const std::string& of_what, const std::string& remedy) {
  rlimit limit{};
  if (getrlimit(kind, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed)
    fail(ExitStatus::limit, fmt::format("mpirun needs {} {}", needed, of_what),
         fmt::format("{} are allowed", limit.rlim_max), remedy + ", or run without -n");
  limit.rlim_cur = needed;
  (void)setrlimit(kind, &limit);
}

// "--bind-to" for "-bind-to" and "--bind-to=core".
std::string_view name_of(std::string_view word) {
  if (word.substr(0, 1) != "-") return {};
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word.substr(0, word.find('='));
}

bool sets_binding(std::string_view word) {
  constexpr std::array<std::string_view, 12> names{"bind-to", "map-by",       "rankfile",       "rf",
                                                   "cpu-set", "cpu-list",     "bycore",         "bynode",
                                                   "byslot",  "bind-to-core", "bind-to-socket", "bind-to-none"};
  return std::find(names.begin(), names.end(), name_of(word)) != names.end();
}

bool user_binds(const std::vector<std::string>& own) {
  constexpr std::array variables{"OMPI_MCA_hwloc_base_binding_policy",
                                 "OMPI_MCA_rmaps_base_mapping_policy",
                                 "OMPI_MCA_rmaps_rank_file_path",
                                 "OMPI_MCA_orte_rankfile",
                                 "PRTE_MCA_hwloc_default_binding_policy",
                                 "PRTE_MCA_rmaps_default_mapping_policy",
                                 "HYDRA_BINDING"};
  return std::any_of(own.begin(), own.end(), sets_binding) ||
         std::any_of(variables.begin(), variables.end(), [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

std::vector<std::string> mpirun_words(const std::string& options) {
  std::vector<std::string> words;
  char quote = 0;
  bool open = false;  // a word has begun
  for (const char c : options) {
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
      if (!open) words.emplace_back();
      open = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += c;
    }
  }
  if (quote != 0) fail(ExitStatus::usage, fmt::format("--mpirun {}: a quote has no end", options));
  for (const std::string& word : words) {
    const std::string_view name = name_of(word);
    if (name != "n" && name != "np" && name != "c" && name != "app" && name != "q" && name != "quiet") continue;
    fail(ExitStatus::usage, fmt::format("--mpirun {}: '{}' is an option that kasen run gives", options, word),
         "-n R of kasen run is the number of ranks", "leave it out");
  }
  return words;
}

void prepare_for_mpirun(int ranks) {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  setenv("PRTE_MCA_prte_execute_quiet", "1", 0);  // of Open MPI 5; -q before
  setenv("OMPI_MCA_orte_abort_timeout", "5", 0);
  setenv("OMPI_MCA_orte_forward_job_control", "1", 0);
  setenv("PATH", "/usr/bin:/bin", 0);  // without it, mpirun looks for its parts nowhere
  // It hangs where it lacks these while it starts.
  constexpr rlim_t its_own = 48, a_rank = 5, largest_file = 5 << 20;
  allow_limit(RLIMIT_NOFILE, its_own + a_rank * static_cast<rlim_t>(ranks),
              fmt::format("open files for {} ranks", ranks), "raise 'ulimit -n'");
  allow_limit(RLIMIT_FSIZE, largest_file, "bytes in a file that its ranks share", "raise 'ulimit -f'");
}

std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& own,
                                     const std::vector<std::string>& arguments, const std::string& preloaded) {
  const bool preloads = std::getenv("LD_PRELOAD") != nullptr;
  const std::string number = std::to_string(ranks);
  std::vector<std::string> line{KASEN_MPIRUN};
  if (!is_mpich && !has_prrte) line.emplace_back("-q");
  line.insert(line.end(), {"-n", number});
  if (!user_binds(own)) line.insert(line.end(), {is_mpich ? "-bind-to" : "--bind-to", "none"});
  line.insert(line.end(), own.begin(), own.end());
  if (is_mpich) {
    if (preloads) line.insert(line.end(), {"-genv", "LD_PRELOAD", preloaded});
  } else {
    if (ranks > allowed_processors()) line.emplace_back("--oversubscribe");
    if (preloads) line.insert(line.end(), {"-x", "LD_PRELOAD=" + preloaded});
  }
  line.insert(line.end(), {tool_folder() + "/kasen-run", "--as-rank"});  // behind a "--" it would be a name
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace kasen::tools
