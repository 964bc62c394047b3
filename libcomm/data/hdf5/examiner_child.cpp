#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// From now on the process may read its open files, answer, and allocate memory that is not executable. The system
// refuses all else. If the kernel knows no such filter, only the limits apply. ASan asks for the signal stack wherever
// a function is left for good.
void shut_in() {
  static constexpr std::array plain{
      SYS_read,           SYS_pread64,       SYS_write,     SYS_recvmsg,     SYS_close,          SYS_lseek,
      SYS_munmap,         SYS_mremap,        SYS_brk,       SYS_madvise,     SYS_futex,          SYS_rt_sigreturn,
      SYS_rt_sigprocmask, SYS_clock_gettime, SYS_getrandom, SYS_sched_yield, SYS_getpid,         SYS_gettid,
      SYS_tgkill,         SYS_sigaltstack,   SYS_exit,      SYS_exit_group,  SYS_restart_syscall};
  static constexpr std::array with_protection{SYS_mmap, SYS_mprotect};
#if defined(__x86_64__)
  constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
  constexpr std::uint32_t machine = 0;
#endif
  if (machine == 0) return;
  const auto line = [](int code, std::uint32_t k, int yes = 0, int no = 0) {
    return sock_filter{static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes), static_cast<std::uint8_t>(no),
                       k};
  };
  constexpr int load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K, answer = BPF_RET | BPF_K;
  constexpr int any_of = BPF_JMP | BPF_JSET | BPF_K;
  constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> lines{line(load, offsetof(seccomp_data, arch)), line(equal, machine, 1),
                                 line(answer, refused), line(load, offsetof(seccomp_data, nr))};
  for (const long call : plain) {
    lines.push_back(line(equal, static_cast<std::uint32_t>(call), 0, 1));
    lines.push_back(line(answer, SECCOMP_RET_ALLOW));
  }
  for (const long call : with_protection) {
    lines.push_back(line(equal, static_cast<std::uint32_t>(call), 0, 4));
    lines.push_back(line(load, offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)));
    lines.push_back(line(any_of, PROT_EXEC, 1));
    lines.push_back(line(answer, SECCOMP_RET_ALLOW));
    lines.push_back(line(answer, refused));
  }
  lines.push_back(line(answer, refused));
  const sock_fprog program{static_cast<unsigned short>(lines.size()), lines.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// -1: there will be none.
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
