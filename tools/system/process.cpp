#include "tools/system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>

#include "libcore/base/error.h"
#include "tools/system/start_process.h"
#include "tools/system/stop_request.h"

namespace kasen::tools {

std::string tool_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

std::string path_of_command(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(folder.append(1, '/').append(name).c_str(), X_OK) == 0) return folder;
  }
  return "";
}

namespace {

constexpr size_t most_processes = 16;
std::array<std::atomic<pid_t>, most_processes> processes{};  // 0: free; read by signal handlers
StopRequest stop_handed_on;
void (*on_second_stop)(int) = SIG_DFL;

void hand_on_stop(int number) {
  const StopRequest::Signal signal = stop_handed_on.note(number);
  if (signal == StopRequest::Signal::same) return;
  if (signal == StopRequest::Signal::again && on_second_stop != SIG_DFL) on_second_stop(SIGTERM);
  signal_processes(SIGTERM);
}

// A file that is closed at the end of its scope. A written file is made anew.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0)
      fail(flags == O_RDONLY ? ExitStatus::io : ExitStatus::cannot_create, fmt::format("cannot open '{}'", path),
           std::strerror(errno));
  }
  explicit OpenFile(int fd) : fd_(fd) {}  // -1: none
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// A text as a file in memory, at its beginning; -1: none.
int descriptor_of(const std::string* text) {
  if (text == nullptr) return -1;
  const int file = memfd_create("kasen-input", MFD_CLOEXEC);
  std::size_t done = 0;
  while (file >= 0 && done < text->size()) {
    const ssize_t wrote = write(file, text->data() + done, text->size() - done);
    if (wrote < 0 && errno != EINTR) break;
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  if (file >= 0 && done == text->size() && lseek(file, 0, SEEK_SET) == 0) return file;
  const int error = errno;
  if (file >= 0) close(file);
  fail(ExitStatus::io, "cannot make a file in memory", std::strerror(error));
}

constexpr int anew = O_WRONLY | O_CREAT | O_TRUNC;

class Process;
Process* beside = nullptr;  // the other half of side_by_side

// A process and its position in `processes`.
class Process {
 public:
  // `start` returns the number of a process that it has started.
  explicit Process(const std::function<pid_t()>& start) {
    for (auto& place : processes) {
      pid_t free = 0;
      if (!place.compare_exchange_strong(free, -1)) continue;
      place_ = &place;
      break;
    }
    if (place_ == nullptr) throw InternalError("too many processes at a time");
    try {
      child_ = start();
    } catch (...) {
      *place_ = 0;
      throw;
    }
    *place_ = child_;
  }
  Process(const std::vector<std::string>& argv, const ProcessStart& start)
      : Process([&] { return start_process(argv, start); }) {}
  ~Process() { (void)wait(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Ended wait() {
    if (child_ == 0) return ended_;
    if (beside != nullptr && beside != this) wait_for_either();
    siginfo_t end{};  // a zombie keeps its number until it has left its position
    while (waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    *place_ = 0;
    int status = 0;
    rusage used{};
    while (wait4(child_, &status, 0, &used) < 0 && errno == EINTR) {
    }
    child_ = 0;
    ended_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ended_.status = ended_.signal != 0 ? 128 + ended_.signal : WEXITSTATUS(status);
    ended_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    ended_.peak_bytes = std::int64_t{used.ru_maxrss} * 1024;
    return ended_;
  }

  // Whether it has ended; then it is waited for, and a failure ends the others.
  bool look() {
    if (child_ == 0) return true;
    siginfo_t end{};
    if (waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOWAIT | WNOHANG) != 0 || end.si_pid == 0)
      return false;
    if (wait().status != 0) signal_processes(SIGTERM);
    return true;
  }

 private:
  // Until this one has ended; looks at the other half when it ends before. Other children there may be come from
  // whoever became this program.
  void wait_for_either() {
    siginfo_t end{};
    while (!beside->look()) {
      if (waitid(P_ALL, 0, &end, WEXITED | WNOWAIT) < 0 && errno != EINTR) return;
      if (end.si_pid == child_) return;
      if (end.si_pid > 0 && end.si_pid != beside->child_) (void)waitpid(end.si_pid, nullptr, 0);
    }
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<pid_t>* place_ = nullptr;
  pid_t child_ = 0;
  Ended ended_;
};

int life_of_beside = -1;  // a pipe that the other half holds open

// Until there is something to read, or the end of it. Meanwhile the other half may end.
void wait_for_text(int fd) {
  while (beside != nullptr && !beside->look()) {
    std::array<pollfd, 2> looks{{{fd, POLLIN, 0}, {life_of_beside, POLLIN, 0}}};
    if (poll(looks.data(), looks.size(), -1) > 0 && looks[0].revents != 0) return;
  }
}

}  // namespace

SharedMark::SharedMark() {
  void* const memory = mmap(nullptr, sizeof *set_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  set_ = new (memory) std::atomic<std::uint32_t>(0);
}

SharedMark::~SharedMark() { munmap(set_, sizeof *set_); }

bool SharedMark::claim() const {
  const bool first = set_->exchange(1) == 0;
  if (first) syscall(SYS_futex, set_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return first;
}

bool SharedMark::wait_for(std::chrono::milliseconds most) const {
  const auto end = std::chrono::steady_clock::now() + most;
  while (*set_ == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    const timespec time{.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1'000'000};
    syscall(SYS_futex, set_, FUTEX_WAIT, 0, &time, nullptr, 0);
  }
  return true;
}

Ended run_process(const std::vector<std::string>& argv, const std::string& output) {
  if (output.empty()) return Process(argv, {}).wait();
  const OpenFile file(output, anew);
  return Process(argv, {.output = file.get()}).wait();
}

std::function<Ended()> run_process_meanwhile(const std::vector<std::string>& argv) {
  return [process = std::make_shared<Process>(argv, ProcessStart{})] { return process->wait(); };
}

Ended run_process_into(std::string& text, const std::vector<std::string>& argv, const std::string* input) {
  const OpenFile given(descriptor_of(input));
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  const OpenFile from(ends[0]);
  std::unique_ptr<Process> process;
  try {
    process = std::make_unique<Process>(argv, ProcessStart{.input = given.get(), .output = ends[1]});
  } catch (...) {
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  std::array<char, 4096> piece{};
  for (;;) {
    wait_for_text(ends[0]);
    const ssize_t got = read(ends[0], piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return process->wait();
}

Ended run_process_apart(const std::vector<std::string>& argv, const std::string& output, const std::string& messages) {
  const OpenFile nothing("/dev/null", O_RDONLY), out(output, anew), reported(messages, anew);
  return Process(argv, {nothing.get(), out.get(), reported.get()}).wait();
}

Ended side_by_side(const std::function<void()>& one,
                   const std::function<int(const std::function<bool()>& is_first)>& other) {
  const SharedMark failure;  // only one of both is the first
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), 0) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  const OpenFile life(ends[0]);
  Process process([&] {
    const pid_t child = fork_process({});
    if (child < 0) fail(ExitStatus::limit, "cannot start a process", std::strerror(errno));
    if (child > 0) return child;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    std::exit(other([&] { return failure.claim(); }));
  });
  close(ends[1]);
  beside = &process;
  life_of_beside = life.get();
  const auto done = [] {
    beside = nullptr;
    life_of_beside = -1;
  };
  try {
    one();
  } catch (...) {
    // A signal to all ends both: then the one says what came of it.
    const auto failed = [](const Ended& ended) {
      return ended.status != 0 && ended.status != static_cast<int>(ExitStatus::interrupted);
    };
    const bool other_failed = (process.look() && failed(process.wait())) || !failure.claim();
    done();
    if (other_failed) return process.wait();
    signal_processes(SIGTERM);
    (void)process.wait();
    throw;
  }
  done();
  return process.wait();
}

void forget_processes() {
  for (auto& place : processes) place = 0;
  beside = nullptr;
  life_of_beside = -1;
}

void signal_processes(int number) {
  for (const auto& place : processes) {
    if (const pid_t child = place.load(); child > 0) kill(child, number);
  }
}

StopHandedOn::StopHandedOn() {
  stop_handed_on.forget();
  on_second_stop = std::signal(SIGTERM, hand_on_stop);
  for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, hand_on_stop);
}

// A request that was handed on is answered by how the step has ended. The same one again, to the whole group of
// processes, may come later than that end.
StopHandedOn::~StopHandedOn() {
  const auto behind = stop_handed_on.came() ? SIG_IGN : on_second_stop;
  std::signal(SIGTERM, behind);
  for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, behind);
}

}  // namespace kasen::tools
