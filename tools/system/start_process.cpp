#include "tools/system/start_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/system/temporaries.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

// No signal reaches the new process while it still has this one's handlers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

void forget_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    sigaction(number, &action, nullptr);
  }
}

// In the new process: false, if it cannot have its streams. Nothing here takes memory or a lock, which another thread
// may have held.
bool take_place(const ProcessStart& start, pid_t starter, const sigset_t& signals) {
  const std::array<int, 3> descriptors{start.input, start.output, start.messages};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != starter) _exit(128 + SIGTERM);
  forget_handlers();
  if (start.own_group) {
    setpgid(0, 0);
    std::signal(SIGTTOU, SIG_IGN);  // it may write to a terminal that is another group's
  }
  bool placed = true;
  for (size_t i = 0; i < descriptors.size(); ++i) {
    if (descriptors[i] >= 0 && dup2(descriptors[i], static_cast<int>(i)) < 0) placed = false;
  }
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  return placed;
}

// Runs in the new process. The reason for a failure to become the program goes to `report`.
[[noreturn]] void become(char* const* argv, const ProcessStart& start, pid_t starter, const sigset_t& signals,
                         int report) {
  if (take_place(start, starter, signals)) execvp(argv[0], argv);
  const int fault = errno;
  (void)!write(report, &fault, sizeof fault);
  _exit(127);
}

std::vector<OwnTool> own_tools;

bool is_only_thread() {
  std::error_code fault;
  const auto threads = std::filesystem::directory_iterator("/proc/self/task", fault);
  return !fault && std::distance(begin(threads), end(threads)) == 1;
}

bool is_program(const std::string& file) {
  constexpr std::string_view mark = "\177ELF";
  std::array<char, mark.size()> first{};
  return std::ifstream(file, std::ios::binary).read(first.data(), first.size()) &&
         std::string_view(first.data(), first.size()) == mark;
}

// The tool to fork; null: its file is started.
const OwnTool* own_tool(const std::string& file) {
  for (const OwnTool& tool : own_tools) {
    if (file == tool_folder() + '/' + tool.name && is_program(file) && is_only_thread()) return &tool;
  }
  return nullptr;
}

// As where another program is started.
void close_what_is_not_handed_on() {
  std::vector<int> files;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", fault)) {
    files.push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (const int file : files) {
    if (const int flags = fcntl(file, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) != 0) close(file);
  }
}

[[noreturn]] void run(const OwnTool& tool, const std::vector<std::string>& argv) {
  prctl(PR_SET_NAME, tool.name.c_str());
  program_invocation_short_name = const_cast<char*>(tool.name.c_str());
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  std::exit(tool.main(static_cast<int>(argv.size()), pointers.data()));
}

}  // namespace

void start_as_forks(std::vector<OwnTool> tools) { own_tools = std::move(tools); }

pid_t fork_process(const ProcessStart& start) {
  const SignalsBlocked blocked;
  const pid_t starter = getpid(), child = fork();
  if (child != 0) return child;
  forget_temporaries();
  forget_processes();
  if (!take_place(start, starter, blocked.before())) _exit(static_cast<int>(ExitStatus::io));
  close_what_is_not_handed_on();
  return 0;
}

pid_t start_process(const std::vector<std::string>& argv, const ProcessStart& start) {
  if (const OwnTool* const tool = own_tool(argv[0]); tool != nullptr && !start.own_group) {
    const pid_t fork = fork_process(start);
    if (fork < 0) fail(ExitStatus::missing_input, fmt::format("cannot start '{}'", argv[0]), std::strerror(errno));
    if (fork == 0) run(*tool, argv);
    return fork;
  }
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  pid_t child = -1;
  int fault = 0;
  {
    const SignalsBlocked blocked;
    const pid_t starter = getpid();
    child = fork();
    if (child < 0) fault = errno;
    if (child == 0) become(pointers.data(), start, starter, blocked.before(), report[1]);
  }
  close(report[1]);
  if (child > 0) {
    int reported = 0;
    ssize_t got = 0;
    while ((got = read(report[0], &reported, sizeof reported)) < 0 && errno == EINTR) {
    }
    if (got == sizeof reported) {
      fault = reported;
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  close(report[0]);
  if (fault != 0)
    fail(ExitStatus::missing_input, fmt::format("cannot start '{}'", argv[0]), std::strerror(fault), start.remedy);
  return child;
}

}  // namespace kasen::tools
