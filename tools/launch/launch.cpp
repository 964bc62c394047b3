#include "tools/launch/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/poll.h>
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
#include <thread>
#include <utility>

#include "libcore/system/temporaries.h"
#include "tools/common/wrap.h"
#include "tools/launch/end.h"
#include "tools/launch/mpirun_place.h"
#include "tools/launch/mpirun_start.h"
#include "tools/launch/mpirun_watch.h"
#include "tools/launch/start_limit.h"
#include "tools/system/files.h"
#include "tools/system/messages.h"
#include "tools/system/process.h"
#include "tools/system/progress.h"
#include "tools/system/shared_segments.h"
#include "tools/system/start_process.h"
#include "tools/system/stop_request.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

std::atomic<pid_t> mpirun_process{0};

// mpirun ends its ranks when it is asked to stop; left alone it would go on without us. A signal that reaches it while
// it starts them is sometimes lost, so it is sent again after six seconds. Within five, mpirun takes a second signal as
// a request to leave its ranks behind. A killed mpirun loses them, too, but they notice and end.
void end_mpirun(pid_t child, int number) {
  constexpr int times = 3, looks = 300;
  constexpr timespec between{.tv_sec = 0, .tv_nsec = 20'000'000};
  for (int reported = 0;; ++reported) {
    kill(child, reported < times ? number : SIGKILL);
    for (int look = 0; look < looks; ++look) {
      if (waitpid(child, nullptr, WNOHANG) != 0) return;
      nanosleep(&between, nullptr);
    }
  }
}

void leave_interrupted(int /*number*/) {
  remove_temporaries();
  _exit(static_cast<int>(ExitStatus::interrupted));
}

std::atomic<bool> interrupted{false};

// The job ends. launch_ranks() removes its leftovers, unless something keeps it from that, such as a terminal that
// takes no text.
void forward_signal(int number) {
  constexpr unsigned patience = 10;
  const pid_t child = mpirun_process.load();
  if (child <= 0 || interrupted.exchange(true)) leave_interrupted(number);
  std::signal(SIGALRM, leave_interrupted);
  end_mpirun(child, number == SIGINT ? SIGINT : SIGTERM);
  alarm(patience);
}

StopRequest stop_request;
std::atomic<bool> ranks_hear{false};

// Goes through mpirun, which forwards USR1. A rank that does not expect it yet would die of it.
void ask_ranks_to_save() {
  if (const pid_t child = mpirun_process.load(); child > 0 && ranks_hear) kill(child, SIGUSR1);
}

void when_ranks_hear() {
  ranks_hear = true;
  if (stop_request.came()) ask_ranks_to_save();
}

// With checkpoints, the ranks are first asked to save and end; a second request ends them at once.
void forward_stop(int number) {
  const StopRequest::Signal signal = stop_request.note(number);
  if (signal == StopRequest::Signal::again) forward_signal(number);
  if (signal == StopRequest::Signal::first) ask_ranks_to_save();
}

// Ctrl-Z: the ranks pause with this process, through mpirun.
void pause_job(int /*number*/) {
  const pid_t child = mpirun_process.load();
  if (child > 0) kill(child, SIGTSTP);
  raise(SIGSTOP);
  if (child > 0) kill(child, SIGCONT);
}

void forward_signals(bool saves) {
  std::signal(SIGINT, forward_signal);
  for (const int number : stop_signals) {
    if (saves) std::signal(number, forward_stop);
    if (!saves) handle_unless_ignored(number, forward_signal);
  }
  handle_unless_ignored(SIGHUP, forward_signal);
  handle_unless_ignored(SIGTSTP, pause_job);
}

// Splits mpirun's standard error into lines.
class Listener {
 public:
  // Once `given_up` is set, it waits for nothing more, whoever still holds the other end.
  Listener(const std::string& title, StartLimit& start, const std::atomic<bool>& given_up)
      : progress_(title), start_(start), given_up_(given_up) {}

  void listen(int fd, MpirunWatch& watch) {
    constexpr int a_while = 200;  // ms
    std::array<char, 1 << 14> block{};
    std::string rest;
    for (;;) {
      pollfd look{.fd = fd, .events = POLLIN, .revents = 0};
      if (poll(&look, 1, a_while) == 0) {
        if (given_up_) break;
        continue;
      }
      const ssize_t count = read(fd, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      rest.append(block.data(), static_cast<size_t>(count));
      for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        line(rest.substr(0, end));
        rest.erase(0, end + 1);
        if (failed_) watch.expect_end();
      }
    }
    if (!rest.empty()) line(rest);
  }

  std::string errors, summary, other;
  bool begun = false, stopped = false;

 private:
  void line(const std::string& text) {
    const char mark = text.empty() ? '\0' : text[0];
    begun = begun || text.find(begun_mark) != std::string::npos;  // also behind a tag of mpirun's
    if (mark == begun_mark) return;
    if (mark == ready_mark) {
      when_ranks_hear();
    } else if (mark == watched_mark) {
      start_.over();
    } else if (mark == progress_mark) {
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

  // Of the messages of several ranks, only the first: others fail for the same reason, or because of it.
  void take(const std::string& message) {
    const bool fault = tells_of_error(message);
    if (fault && std::exchange(failed_, true)) return;
    if (errors.find(message) == std::string::npos) errors += message + '\n';
  }

  Progress progress_;
  StartLimit& start_;
  const std::atomic<bool>& given_up_;
  bool failed_ = false;
};

// The input that mpirun reads and hands to rank 0: the plan, where this process's standard input has it, else nothing.
// It is read here, because a group that a terminal does not know must not read from that terminal.
int input_of_ranks(const std::string& plan) {
  if (plan != "-") return open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::string text = read_text(plan);
  const int file = memfd_create("kasen-plan", MFD_CLOEXEC);
  for (size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t count = pwrite(file, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno != EINTR)
      fail(ExitStatus::io, "cannot keep the plan for the ranks", std::strerror(errno), "name the plan's file");
    if (count > 0) at += static_cast<size_t>(count);
  }
  return file;
}

// Removes segments of killed ranks; a job that ended by itself leaves none. The ranks of a killed mpirun end a little
// later, and a segment that was made just now may be of a job that is about to begin.
void remove_segments(int status, std::time_t since) {
  constexpr timespec a_second{.tv_sec = 1, .tv_nsec = 0};
  constexpr int looks = 3;
  if (status > 128) nanosleep(&a_second, nullptr);
  for (int look = 0; look < looks && !left_segments("", since, 0).empty(); ++look) {
    if (look > 0) nanosleep(&a_second, nullptr);
    for (const SharedSegment& segment : left_segments("", since)) unlink(segment.path.c_str());
  }
}

// mpirun gets signals from this process alone, which knows their meaning for the job.
pid_t start_mpirun(const RunSettings& settings, const std::vector<std::string>& arguments, int messages,
                   const std::string& preloaded) {
  const int input = input_of_ranks(settings.plan);
  if (input < 0) fail(ExitStatus::io, "cannot open the input of the ranks", std::strerror(errno));
  const std::vector<std::string> line = mpirun_line(settings.ranks, settings.mpirun, arguments, preloaded);
  if (verbose()) tell("kasen-run: {}\n", shell_line(line));
  const pid_t child = start_process(
      line, {.input = input, .messages = messages, .own_group = true, .remedy = "install Open MPI, or run without -n"});
  close(input);
  return child;
}

// mpirun's status, where it gave one; `ended_itself`: a signal ended mpirun before it could.
int wait_for(pid_t child, bool& ended_itself) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  mpirun_process = 0;
  ended_itself = WIFEXITED(status);
  return ended_itself ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// An mpirun that waits at its start sometimes ignores a request to end.
void end_unstarted(pid_t child, const std::stop_token& stop) {
  constexpr int looks = 100;
  constexpr timespec between{.tv_sec = 0, .tv_nsec = 20'000'000};
  kill(child, SIGTERM);
  for (int look = 0; look < looks && !stop.stop_requested(); ++look) nanosleep(&between, nullptr);
  if (stop.stop_requested()) return;
  const std::vector<pid_t> children = living_children(child);
  kill(-child, SIGKILL);  // its group: mpirun may be a script that starts it
  for (const pid_t process : children) kill(process, SIGKILL);
}

int tell_unstarted(double seconds, const std::string& full) {
  Diagnostic told;
  told.what = fmt::format("the ranks did not start within {} s (--timeout)", seconds);
  told.why = full.empty() ? "MPI waits for something" : full_folder_text(full);
  told.remedy = full.empty() ? "see 'kasen doctor --only mpi', or allow more" : room_remedy;
  tell_error("kasen-run", UserError(ExitStatus::limit, std::move(told)));
  return static_cast<int>(ExitStatus::limit);
}

}  // namespace

int launch_ranks(const RunSettings& settings, const std::vector<std::string>& arguments) {
  prepare_for_mpirun(settings.ranks);
  const MpirunPlace place(settings.ranks);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ExitStatus::io, "cannot make a pipe", std::strerror(errno));
  const std::time_t began = std::time(nullptr);
  const pid_t child = start_mpirun(settings, arguments, ends[1], place.preloaded());
  mpirun_process = child;
  forward_signals(!settings.checkpoint.empty());
  close(ends[1]);
  JobEnd end{.checkpoints = settings.checkpoint};
  std::string summary;
  bool stopped = false;
  {
    std::atomic<bool> late = false, given_up = false;
    StartLimit start(settings.timeout, [&](const std::stop_token& stop) {
      late = true;
      end_unstarted(child, stop);
      given_up = true;
    });
    Listener listener("run", start, given_up);
    {
      MpirunWatch watch(child);
      listener.listen(ends[0], watch);
      close(ends[0]);
      end.status = wait_for(child, end.reported_by_mpirun);
      start.over();
    }
    if (!place.here() && (end.status != 0 || interrupted)) remove_segments(end.status, began);
    if (late) return tell_unstarted(settings.timeout, place.full_folder());
    if (interrupted && !listener.stopped) return static_cast<int>(ExitStatus::interrupted);
    summary = std::move(listener.summary);
    stopped = listener.stopped;
    if (!listener.errors.empty()) {
      tell("{}", listener.errors);
    } else if (end.status != 0) {
      end.other = std::move(listener.other);
      end.began = listener.begun;
      if (!settings.mpirun.empty()) end.options = shell_line({shell_line(settings.mpirun)});
      end.line = shell_line(mpirun_line(settings.ranks, settings.mpirun, {}, place.preloaded())) + " ...";
      end.full_folder = place.full_folder();
      const ReportedEnd reported = reported_end(end);
      tell("{}", reported.other);
      tell_error("kasen-run", UserError(reported.status.value_or(ExitStatus(end.status)), reported.told));
      if (reported.status) return static_cast<int>(*reported.status);
    }
  }
  if (!summary.empty()) write_standard_output(settings.json ? summary : fitted(summary, terminal_width()));
  if (stopped) return static_cast<int>(ExitStatus::resumable);
  return end.status > 125 ? static_cast<int>(ExitStatus::internal) : end.status;
}

}  // namespace kasen::tools
