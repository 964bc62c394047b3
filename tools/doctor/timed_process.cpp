#include "tools/doctor/timed_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

extern char** environ;

namespace kasen::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Starts a process in a group of its own, so that it can be ended with all that it has started. 0 and `why`: it cannot
// be started.
pid_t start_group(const std::vector<std::string>& argv, int output, std::string& why) {
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) why = std::strerror(fault);
  return fault == 0 ? child : 0;
}

// Reads until all writers have closed their end. False: the time was over before.
bool read_until(int fd, Clock::time_point end, std::string& text) {
  std::array<char, 4096> block{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd look{fd, POLLIN, 0};
    const int ready = left > 0 ? poll(&look, 1, static_cast<int>(left)) : 0;
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = read(fd, block.data(), block.size());
    if (got <= 0) return true;
    text.append(block.data(), static_cast<size_t>(got));
  }
}

}  // namespace

TimedResult run_for(const std::vector<std::string>& argv, double seconds) {
  TimedResult result;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, 0, false, std::strerror(errno)};
  const pid_t child = start_group(argv, ends[1], result.output);
  close(ends[1]);
  if (child == 0) {
    close(ends[0]);
    return {-1, 0, false, result.output};
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  result.late = !read_until(ends[0], end, result.output);
  if (result.late) {  // a starter of others, such as mpirun, ends them when asked to end
    kill(-child, SIGTERM);
    std::string rest;
    if (!read_until(ends[0], Clock::now() + std::chrono::seconds(5), rest)) kill(-child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.status = result.signal != 0 ? 128 + result.signal : WEXITSTATUS(status);
  return result;
}

}  // namespace kasen::tools
