#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "libcomm/data/hdf5/examiner.h"
#include "libcomm/data/hdf5/examiner_message.h"

namespace kasen {
namespace {

constexpr std::string_view shown_name = "kasen-examine";

// The fields of /proc/self/stat after the name, which may hold anything but ends with the last bracket.
std::vector<unsigned long> own_facts() {
  std::array<char, 2048> text{};
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = file < 0 ? 0 : read(file, text.data(), text.size() - 1);
  if (file >= 0) close(file);
  std::vector<unsigned long> facts;
  const char* at = bytes > 0 ? std::strrchr(text.data(), ')') : nullptr;
  if (at == nullptr || at[1] == '\0' || at[2] == '\0') return facts;
  for (at += 3; *at != '\0' && *at != '\n';) {
    char* end = nullptr;
    facts.push_back(std::strtoul(at, &end, 10));
    if (end == at) break;
    at = end;
  }
  return facts;
}

// Fields of proc(5), of which ours begin with the fourth.
constexpr std::size_t virtual_size = 23 - 4, arguments_begin = 48 - 4, arguments_end = 49 - 4;

// Renames the process, so that lists of processes do not show it as the original program.
void take_name(const std::vector<unsigned long>& facts) {
  prctl(PR_SET_NAME, shown_name.data());
  if (facts.size() <= arguments_end || facts[arguments_begin] == 0) return;
  char* const begin = reinterpret_cast<char*>(facts[arguments_begin]);
  const std::size_t bytes = facts[arguments_end] - facts[arguments_begin];
  if (bytes <= shown_name.size()) return;
  std::memset(begin, 0, bytes);
  std::memcpy(begin, shown_name.data(), shown_name.size());
}

// Libraries that get no memory sometimes crash. Else the process dies of the signal: its cause raises it again once
// this returns.
void on_crash(int /*number*/) {
  if (memory_is_short()) _exit(out_of_memory);
}

void leave_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  for (const int number : {SIGXCPU, SIGALRM}) std::signal(number, SIG_DFL);
  static std::array<std::byte, 1 << 14> own_stack;  // the other may be used up
  const stack_t stack{.ss_sp = own_stack.data(), .ss_flags = 0, .ss_size = own_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Standard streams lead nowhere, and nothing else is open.
int leave_files(int socket) {
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
  constexpr int place = 3;
  if (socket != place) dup2(socket, place);
  if (syscall(SYS_close_range, place + 1, ~0U, 0) != 0)
    for (int file = place + 1; file < 4096; ++file) close(file);
  return place;
}

void limit(int resource, std::int64_t value, std::int64_t spare = 0) {
  rlimit64 bounds{};
  if (getrlimit64(static_cast<__rlimit_resource>(resource), &bounds) != 0) return;
  bounds.rlim_max = std::min(bounds.rlim_max, static_cast<rlim64_t>(value + spare));
  bounds.rlim_cur = std::min(bounds.rlim_max, static_cast<rlim64_t>(value));
  setrlimit64(static_cast<__rlimit_resource>(resource), &bounds);
}

void take_limits(const ExaminerLimits& limits, const std::vector<unsigned long>& facts) {
  if (facts.size() > virtual_size) limit(RLIMIT_AS, static_cast<std::int64_t>(facts[virtual_size]) + limits.memory);
  limit(RLIMIT_CPU, limits.cpu_seconds, 1);  // warned before it is killed
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 8);
}

// libseccomp's answer. Without memory for the filter this throws; an old kernel refuses the filter, which changes
// nothing.
void with_memory(int result) {
  if (result == -ENOMEM) throw std::bad_alloc();
}

// From now on the process may read its open files, answer, and allocate memory that is not executable. The system
// refuses all else. If the kernel knows no such filter, only the limits apply. ASan asks for the signal stack wherever
// a function is left for good.
void shut_in() {
  // C libraries of 32-bit systems use other calls for 64-bit positions and times.
  constexpr std::array plain{SCMP_SYS(read),           SCMP_SYS(pread64),
                             SCMP_SYS(write),          SCMP_SYS(recvmsg),
                             SCMP_SYS(close),          SCMP_SYS(lseek),
                             SCMP_SYS(_llseek),        SCMP_SYS(munmap),
                             SCMP_SYS(mremap),         SCMP_SYS(brk),
                             SCMP_SYS(madvise),        SCMP_SYS(futex),
                             SCMP_SYS(futex_time64),   SCMP_SYS(sigreturn),
                             SCMP_SYS(rt_sigreturn),   SCMP_SYS(rt_sigprocmask),
                             SCMP_SYS(clock_gettime),  SCMP_SYS(clock_gettime64),
                             SCMP_SYS(getrandom),      SCMP_SYS(sched_yield),
                             SCMP_SYS(getpid),         SCMP_SYS(gettid),
                             SCMP_SYS(tgkill),         SCMP_SYS(sigaltstack),
                             SCMP_SYS(exit),           SCMP_SYS(exit_group),
                             SCMP_SYS(restart_syscall)};
  // On systems with mmap2, the older mmap has its protection in memory, where no filter sees it.
  constexpr int map = SCMP_SYS(mmap2) > 0 ? SCMP_SYS(mmap2) : SCMP_SYS(mmap);
  constexpr scmp_arg_cmp no_code{.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0};
  constexpr std::uint32_t refused = SCMP_ACT_ERRNO(EPERM);
  const std::unique_ptr<void, decltype(&seccomp_release)> filter(seccomp_init(refused), &seccomp_release);
  if (!filter) throw std::bad_alloc();
  with_memory(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, refused));  // else it would be killed
  for (const int call : plain) with_memory(seccomp_rule_add_array(filter.get(), SCMP_ACT_ALLOW, call, 0, nullptr));
  for (const int call : {map, SCMP_SYS(mprotect)})
    with_memory(seccomp_rule_add_array(filter.get(), SCMP_ACT_ALLOW, call, 1, &no_code));
  with_memory(seccomp_load(filter.get()));
}

// Returns -1 if no file follows.
int next_file(int socket) {
  FileMessage message;
  ssize_t got = -1;
  while ((got = recvmsg(socket, &message.header, 0)) < 0 && errno == EINTR) {
  }
  const cmsghdr* const header = got == 1 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  int file = -1;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

bool write_whole(int socket, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = write(socket, from, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

bool memory_is_short() {
  constexpr std::size_t much = std::size_t{32} << 20;
  void* const place = mmap(nullptr, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return true;
  munmap(place, much);
  return false;
}

void serve_examinations(int socket, Examiner::Work work, const ExaminerLimits& limits) {
  try {
    const std::vector<unsigned long> facts = own_facts();
    take_name(facts);
    leave_signals();
    socket = leave_files(socket);
    work.prepare();
    take_limits(limits, facts);
    shut_in();
    for (int file = next_file(socket); file >= 0; file = next_file(socket)) {
      const std::string answer = work.examine(file);
      close(file);
      const std::uint64_t bytes = answer.size();
      if (!write_whole(socket, &bytes, sizeof bytes) || !write_whole(socket, answer.data(), answer.size())) break;
    }
  } catch (...) {
    _exit(memory_is_short() ? out_of_memory : 1);
  }
  _exit(0);
}

}  // namespace kasen
