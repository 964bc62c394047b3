#include "libcomm/data/hdf5/examiner.h"

#include <fmt/format.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "libcomm/data/hdf5/examiner_message.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

using Clock = std::chrono::steady_clock;

bool send_file(int socket, int file) {
  FileMessage message;
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof(int));
  for (;;) {
    if (sendmsg(socket, &message.header, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

// A process that has closed its end of the socket is about to end, if it is not gone already.
bool has_ended(pid_t process) {
  constexpr timespec between{.tv_sec = 0, .tv_nsec = 5'000'000};
  constexpr int looks = 100;
  for (int look = 0; look < looks; ++look) {
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT | WNOHANG) != 0) return false;
    if (ended.si_pid != 0) return true;
    nanosleep(&between, nullptr);
  }
  return false;
}

enum class Got : std::uint8_t { all, end, late };

Got receive(int socket, char* to, std::int64_t bytes, Clock::time_point deadline) {
  while (bytes > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Got::late;
    pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left, 1 << 20)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ready < 0 ? -1 : recv(socket, to, static_cast<std::size_t>(bytes), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Got::end;
    to += got;
    bytes -= got;
  }
  return Got::all;
}

}  // namespace

void Examiner::start() {
  if (process_ >= 0) return;
  std::array<int, 2> ends{};
  const bool paired = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
  process_ = paired ? fork() : -1;
  if (process_ == 0) serve_examinations(ends[1], work_, limits_);
  const int fault = errno;
  if (paired) close(ends[1]);
  if (process_ > 0) {
    socket_ = ends[0];
    asked_ = false;
    return;
  }
  if (paired) close(ends[0]);
  fail(ExitStatus::limit, "cannot start the process that examines files", std::strerror(fault),
       "end other processes, or raise the limits of this one");
}

void Examiner::stop() {
  if (process_ < 0) return;
  close(std::exchange(socket_, -1));  // it waits for nothing else
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

Examiner::End Examiner::end() {
  const bool by_itself = has_ended(process_);
  if (!by_itself) kill(process_, SIGKILL);
  close(std::exchange(socket_, -1));
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (ended < 0 || !WIFSIGNALED(status))
    return {"ended without an answer", ended > 0 && WEXITSTATUS(status) == out_of_memory};
  return {fmt::format("ended with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))),
          by_itself && WTERMSIG(status) == SIGKILL};
}

Examiner::Reply Examiner::try_once(const FileHandle& file, std::string& answer) {
  start();
  const Clock::time_point deadline = Clock::now() + limits_.wait;
  std::uint64_t bytes = 0;
  if (!send_file(socket_, file.descriptor())) return Reply::lost;
  Got got = receive(socket_, reinterpret_cast<char*>(&bytes), sizeof bytes, deadline);
  if (got == Got::all && std::cmp_greater(bytes, limits_.answer)) return Reply::long_;
  if (got == Got::all) {
    answer.resize(bytes);
    got = receive(socket_, answer.data(), static_cast<std::int64_t>(bytes), deadline);
  }
  return got == Got::all ? Reply::whole : got == Got::late ? Reply::late : Reply::lost;
}

std::string Examiner::ask(const FileHandle& file, const std::string& path) {
  std::string answer;
  bool served = process_ >= 0 && asked_;
  Reply reply = try_once(file, answer);
  End became;
  if (reply == Reply::lost) {
    became = end();
    // An earlier file may have ended it, or its limits after many files.
    if (std::exchange(served, false)) reply = try_once(file, answer);
    if (reply == Reply::lost && process_ >= 0) became = end();
  }
  asked_ = reply == Reply::whole;
  if (asked_) return answer;
  if (reply == Reply::lost && became.no_memory) fail_unexamined(path);
  if (reply == Reply::late) became.text = fmt::format("did not answer within {} s", limits_.wait.count());
  if (reply == Reply::long_) became.text = fmt::format("has an answer of more than {} bytes", limits_.answer);
  if (process_ >= 0) {
    kill(process_, SIGKILL);
    (void)end();
  }
  fail(ExitStatus::bad_input, fmt::format("'{}' cannot be examined", shown_path(path)),
       "the process that examines it " + became.text, "it is damaged, or made to do harm: make it again");
}

void fail_unexamined(const std::string& path) {
  fail(ExitStatus::limit, fmt::format("no memory to examine '{}'", shown_path(path)),
       "the process that does it has run out of memory", "free some; if much is free, do not trust the file");
}

}  // namespace kasen
