#include "tools/system/start_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "libcore/base/error.h"

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

// Runs in the new process. Nothing here takes memory or a lock, which another thread may have held. The reason for a
// failure to become the program goes to `report`.
[[noreturn]] void become(char* const* argv, const ProcessStart& start, pid_t starter, const sigset_t& signals,
                         int report) {
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
  if (placed) execvp(argv[0], argv);
  const int fault = errno;
  (void)!write(report, &fault, sizeof fault);
  _exit(127);
}

}  // namespace

pid_t start_process(const std::vector<std::string>& argv, const ProcessStart& start) {
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
