#include "tools/system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
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
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

constexpr int anew = O_WRONLY | O_CREAT | O_TRUNC;

// A process and its position in `processes`.
class Process {
 public:
  Process(const std::vector<std::string>& argv, const ProcessStart& start) {
    for (auto& place : processes) {
      pid_t free = 0;
      if (!place.compare_exchange_strong(free, -1)) continue;
      place_ = &place;
      break;
    }
    if (place_ == nullptr) throw InternalError("too many processes at a time");
    try {
      child_ = start_process(argv, start);
    } catch (...) {
      *place_ = 0;
      throw;
    }
    *place_ = child_;
  }
  ~Process() { (void)wait(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Ended wait() {
    if (child_ == 0) return ended_;
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

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<pid_t>* place_ = nullptr;
  pid_t child_ = 0;
  Ended ended_;
};

}  // namespace

Ended run_process(const std::vector<std::string>& argv, const std::string& output) {
  if (output.empty()) return Process(argv, {}).wait();
  const OpenFile file(output, anew);
  return Process(argv, {.output = file.get()}).wait();
}

Ended run_process_into(std::string& text, const std::vector<std::string>& argv) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(fdopen(ends[0], "r"), std::fclose);
  std::unique_ptr<Process> process;
  try {
    process = std::make_unique<Process>(argv, ProcessStart{.output = ends[1]});
  } catch (...) {
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  std::array<char, 4096> piece{};
  for (size_t got = 1; got > 0;) {
    got = std::fread(piece.data(), 1, piece.size(), from.get());
    text.append(piece.data(), got);
  }
  return process->wait();
}

Ended run_process_apart(const std::vector<std::string>& argv, const std::string& output, const std::string& messages) {
  const OpenFile nothing("/dev/null", O_RDONLY), out(output, anew), reported(messages, anew);
  return Process(argv, {nothing.get(), out.get(), reported.get()}).wait();
}

void side_by_side(const std::function<void()>& one, const std::function<void()>& other) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&](const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!first) signal_processes(SIGTERM);
      if (!first) first = std::current_exception();
    }
  };
  {
    const std::future<void> beside = std::async([&] { guarded(other); });
    guarded(one);
    beside.wait();
  }
  if (first) std::rethrow_exception(first);
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

StopHandedOn::~StopHandedOn() {
  std::signal(SIGTERM, on_second_stop);
  for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, on_second_stop);
}

}  // namespace kasen::tools
