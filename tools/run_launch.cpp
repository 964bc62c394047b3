#include "tools/run_launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "libcomm/data/new_file.h"
#include "libcore/temporaries.h"
#include "tools/common/files.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/common/shared_segments.h"
#include "tools/common/start_process.h"
#include "tools/common/stop_request.h"
#include "tools/mpirun_watch.h"

namespace kasen::tools {
namespace {

std::atomic<pid_t> mpirun_process{0};

// mpirun ends its ranks when it is told to stop; left alone it would go on without us. A signal that reaches it while
// it starts them is lost now and then, so that it is told again: after six seconds, since it takes a second signal
// within five for a wish to leave its ranks behind. Killed, it loses them, too, but they notice and end.
void end_mpirun(pid_t child, int number) {
  constexpr int times = 3, looks = 300;
  constexpr timespec between{.tv_sec = 0, .tv_nsec = 20'000'000};
  for (int told = 0;; ++told) {
    kill(child, told < times ? number : SIGKILL);
    for (int look = 0; look < looks; ++look) {
      if (waitpid(child, nullptr, WNOHANG) != 0) return;
      nanosleep(&between, nullptr);
    }
  }
}

void forward_signal(int number) {
  if (const pid_t child = mpirun_process.load(); child > 0) end_mpirun(child, number == SIGHUP ? SIGTERM : number);
  remove_temporaries();
  _exit(static_cast<int>(ExitStatus::interrupted));
}

StopRequest stop_request;

// With checkpoints the ranks are asked to save and end first, by way of mpirun, which hands USR1 on; a second request
// ends them at once.
void forward_stop(int number) {
  const StopRequest::Signal signal = stop_request.note();
  if (signal == StopRequest::Signal::again) forward_signal(number);
  if (signal != StopRequest::Signal::first) return;
  if (const pid_t child = mpirun_process.load(); child > 0) kill(child, SIGUSR1);
}

// Ctrl-Z: the ranks pause with this process, by way of mpirun.
void pause_job(int /*number*/) {
  const pid_t child = mpirun_process.load();
  if (child > 0) kill(child, SIGTSTP);
  raise(SIGSTOP);
  if (child > 0) kill(child, SIGCONT);
}

void forward_signals(bool saves) {
  std::signal(SIGINT, forward_signal);
  std::signal(SIGTERM, saves ? forward_stop : forward_signal);
  if (saves) std::signal(SIGUSR1, forward_stop);
  if (std::signal(SIGHUP, forward_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  if (std::signal(SIGTSTP, pause_job) == SIG_IGN) std::signal(SIGTSTP, SIG_IGN);
}

std::vector<std::string> mpirun_line(const RunSettings& settings, const std::vector<std::string>& arguments) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::string> line{"mpirun", "-q", "-n", std::to_string(settings.ranks), "--bind-to", "none"};
  if (settings.ranks > cores) line.insert(line.end(), {"--oversubscribe"});
  line.push_back(tool_folder() + "/kasen-run");
  line.insert(line.end(), arguments.begin(), arguments.end());
  line.push_back("--as-rank");
  return line;
}

void prepare_environment(const RunSettings& settings) {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (settings.ranks > cores) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  setenv("OMPI_MCA_orte_abort_timeout", "5", 0);
  setenv("OMPI_MCA_orte_forward_job_control", "1", 0);
}

// Takes the lines of mpirun's standard error apart.
class Listener {
 public:
  explicit Listener(const std::string& title) : progress_(title) {}

  void listen(int fd) {
    std::array<char, 1 << 14> block{};
    std::string rest;
    for (;;) {
      const ssize_t count = read(fd, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      rest.append(block.data(), static_cast<size_t>(count));
      for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        line(rest.substr(0, end));
        rest.erase(0, end + 1);
      }
    }
    if (!rest.empty()) line(rest);
  }

  std::string errors, summary, other;
  bool stopped = false;

 private:
  void line(const std::string& text) {
    const char mark = text.empty() ? '\0' : text[0];
    if (mark == progress_mark) {
      progress_.show(text.substr(1));
    } else if (mark == error_mark || mark == stopped_mark) {
      std::string message = text.substr(1);
      std::replace(message.begin(), message.end(), line_break_mark, '\n');
      take(message);
      stopped = stopped || mark == stopped_mark;
    } else if (mark == summary_mark) {
      summary += text.substr(1) + '\n';
    } else {
      other += text + '\n';
    }
  }

  // Of what several ranks say the first alone: others fail for the same reason, or because of it.
  void take(const std::string& message) {
    const bool fault = message.find("error:") != std::string::npos;
    if (fault && std::exchange(failed_, true)) return;
    if (errors.find(message) == std::string::npos) errors += message + '\n';
  }

  Progress progress_;
  bool failed_ = false;
};

// The plan as a file that every rank can read, and nobody else: what has its name already is not touched.
class PlanFile {
 public:
  PlanFile(const std::string& plan, std::vector<std::string>& arguments) {
    if (plan != "-") return;
    const std::string text = read_text(plan);
    const char* const folder = std::getenv("TMPDIR");
    std::string path = fmt::format("{}/kasen-plan-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
    const int made = mkstemp(path.data());
    if (made < 0)
      fail(ExitStatus::cannot_create, fmt::format("cannot make the file '{}' for the ranks", path),
           std::strerror(errno), "name the plan's file, or set TMPDIR to a folder that can be written");
    close(made);
    path_ = path;
    temporary_.emplace(path_);
    FileHandle::open_to_write(path_).write(0, text.data(), static_cast<std::int64_t>(text.size()));
    std::erase(arguments, "-");
    arguments.insert(arguments.end(), {path_, "--plan-name", shown_name(plan)});
  }
  ~PlanFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;

 private:
  std::string path_;
  std::optional<Temporary> temporary_;
};

// Of ranks that were killed; of a job that ended by itself nothing is left. Those of a killed mpirun end a little
// later.
void remove_segments(int status, std::time_t since) {
  constexpr timespec a_second{.tv_sec = 1, .tv_nsec = 0};
  if (status > 128) nanosleep(&a_second, nullptr);
  for (const SharedSegment& segment : left_segments("", since)) unlink(segment.path.c_str());
}

// It gets signals from this process alone, which knows what they mean for the job, and no standard input: a group that
// a terminal does not know must not read from it.
pid_t start_mpirun(const RunSettings& settings, const std::vector<std::string>& arguments, int messages) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) fail(ExitStatus::io, "cannot open '/dev/null'", std::strerror(errno));
  const pid_t child = start_process(
      mpirun_line(settings, arguments),
      {.input = nothing, .messages = messages, .own_group = true, .remedy = "install Open MPI, or run without -n"});
  close(nothing);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  mpirun_process = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A rank that INT, TERM or HUP reaches says nothing and leaves; mpirun tells its status, or the signal's.
bool was_interrupted(int status) {
  constexpr int signalled = 128;
  return status == static_cast<int>(ExitStatus::interrupted) || status == signalled + SIGTERM ||
         status == signalled + SIGHUP;
}

// Of a job that told nothing itself.
std::string silent_end(int status, const std::string& other) {
  if (was_interrupted(status))
    return "kasen-run: error: the job was interrupted; a signal (INT, TERM or HUP) ended one of its ranks; start it "
           "again; --checkpoint DIR --resume would go on where it was\n";
  return fmt::format("{}kasen-run: error: the job ended with status {}; a rank died without a message; see above\n",
                     other, status);
}

}  // namespace

int launch_ranks(const RunSettings& settings, std::vector<std::string> arguments) {
  prepare_environment(settings);
  const PlanFile plan(settings.plan, arguments);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  const std::time_t began = std::time(nullptr);
  const pid_t child = start_mpirun(settings, arguments, ends[1]);
  mpirun_process = child;
  forward_signals(!settings.checkpoint.empty());
  close(ends[1]);
  int status = 0;
  std::string summary;
  bool stopped = false;
  {
    Listener listener("run");
    {
      const MpirunWatch watch(child);
      listener.listen(ends[0]);
      close(ends[0]);
      status = wait_for(child);
    }
    if (status != 0) remove_segments(status, began);
    summary = std::move(listener.summary);
    stopped = listener.stopped;
    if (!listener.errors.empty()) {
      tell("{}", listener.errors);
    } else if (status != 0) {
      tell("{}", silent_end(status, listener.other));
    }
  }
  if (!summary.empty()) write_standard_output(summary);
  if (stopped) return static_cast<int>(ExitStatus::resumable);
  if (was_interrupted(status)) return static_cast<int>(ExitStatus::interrupted);
  return status > 125 ? static_cast<int>(ExitStatus::internal) : status;
}

}  // namespace kasen::tools
