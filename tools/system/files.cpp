#include "tools/system/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>

#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/base/missing_file.h"
#include "libcore/base/printable.h"
#include "libcore/system/file_calls.h"
#include "libcore/system/temporaries.h"
#include "tools/system/messages.h"
#include "tools/system/process.h"
#include "tools/system/replace.h"
#include "tools/system/stop_request.h"

namespace kasen::tools {
namespace {

// A second signal, in this thread or another, must not end the process while the first one's handler still removes
// files. A terminal and the process that started us may both send one.
void on_signal(int number) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  static std::atomic_flag begun;
  while (begun.test_and_set()) pause();
  signal_processes(number == SIGINT || number == SIGHUP ? number : SIGTERM);
  remove_temporaries();
  _exit(static_cast<int>(ExitStatus::interrupted));
}

bool waits_for_disk = true;

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

std::string reason() { return std::strerror(errno); }

bool write_all(int fd, std::string_view text, ssize_t (*call)(int, const void*, size_t) = file_calls::write) {
  while (!text.empty()) {
    const ssize_t written = call(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Texts are programs, IR, configurations and counters, which are held whole; data has its own readers. The largest plan
// (docs/language.md, Limits) has some MiB. Without a limit, the wrong file (/dev/zero, a disk image) takes all memory.
constexpr size_t text_limit = size_t{256} << 20;

[[noreturn]] void is_folder(const std::string& name) {
  std::error_code none;
  const bool bundle = std::filesystem::exists(std::filesystem::path(name) / "manifest.json", none);
  fail(ExitStatus::missing_input, fmt::format("'{}' is a {}", name, bundle ? "bundle" : "folder"),
       "a file is needed here", bundle ? fmt::format("name the file, and give --bundle {}", name) : "name the file");
}

std::string read_all(int fd, const std::string& name) {
  std::string text;
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t count = file_calls::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EISDIR) is_folder(name);
    if (count < 0) fail(ExitStatus::io, fmt::format("cannot read '{}'", name), reason());
    if (count == 0) return text;
    text.append(block.data(), static_cast<size_t>(count));
    if (text.size() > text_limit)
      fail(ExitStatus::limit, fmt::format("'{}' has more than {} MiB", name, text_limit >> 20),
           "a program, IR, a configuration or counters are expected here", "check the name");
  }
}

// Removes the mark of UTF-8 that some editors put in front.
std::string unmarked(std::string text, const std::string& name) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail(ExitStatus::bad_input, "the file holds UTF-16", "text is read as UTF-8",
         "convert it: iconv -f UTF-16 -t UTF-8", {name});
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

[[noreturn]] void write_failed(const std::string& path, const std::string& temporary, std::size_t needed) {
  const int fault = errno;
  unlink(temporary.c_str());
  constexpr const char* untouched = "what was there before is untouched";
  if (!is_full_disk(fault))
    fail_on_disk(ExitStatus::io, fmt::format("cannot write '{}'", path), fault, path, untouched);
  fail(ExitStatus::io, fmt::format("cannot write '{}'", path), std::strerror(fault),
       fmt::format("{}; {}", full_disk_remedy(fault, temporary, static_cast<std::int64_t>(needed)), untouched));
}

// A link keeps its target: the file behind it is the one that changes.
std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code fault;
  const fs::path target =
      fs::is_symlink(path, fault) ? fs::path(path).parent_path() / fs::read_symlink(path, fault) : fs::path(path);
  const fs::path whole = fault ? fs::path() : fs::weakly_canonical(target, fault);
  return fault || whole.empty() ? path : whole.string();
}

}  // namespace

// One line: a name with a line end would be two lines of IR.
std::string shown_name(const std::string& path) {
  std::string name = path.empty() || path == "-" ? "<stdin>" : path;
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = readdir(open.get())) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::string& path) {
  if (path.empty() || path == "-") return unmarked(read_all(STDIN_FILENO, "<stdin>"), "<stdin>");
  const File file(file_calls::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) {
    const bool missing = file_calls::is_missing(errno);
    fail(missing ? ExitStatus::missing_input : ExitStatus::io, fmt::format("cannot open '{}'", path), reason(),
         missing ? missing_file_remedy(path) : "");
  }
  return unmarked(read_all(file.fd(), path), path);
}

void write_standard_output(std::string_view text) {
  if (write_all(STDOUT_FILENO, printable(text))) return;
  if (errno == EPIPE) throw UserError(ExitStatus::io, std::vector<Diagnostic>{});  // `| head` has what it wants
  fail(ExitStatus::io, "cannot write to standard output", reason(),
       "the reader is gone or the disk is full; use -o FILE");
}

bool write_message(std::string_view text) {
  return messages_are_json() ? write_as_it_is(messages_of(text)) : write_as_it_is(text);
}

bool write_as_it_is(std::string_view text) { return write_all(STDERR_FILENO, text, ::write); }

void hold_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest number that is free: fd
  }
}

void write_without_waiting() { waits_for_disk = false; }

void write_text(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") return write_standard_output(text);
  struct stat info {};
  const bool special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (special) {  // /dev/null, a named pipe: nothing to rename over
    const File out(file_calls::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.fd() < 0) {
      fail(ExitStatus::cannot_create, fmt::format("cannot write '{}'", path), reason(),
           S_ISDIR(info.st_mode) ? "it is a folder: name a file" : "choose another place");
    }
    if (!write_all(out.fd(), printable(text)))  // a terminal, or standard output by its name
      fail(ExitStatus::io, fmt::format("cannot write '{}'", path), reason());
    return;
  }
  require_replaceable(path, text);
  const std::string target = behind_links(path);
  std::optional<Temporary> temporary;
  int made = -1;
  const std::string name = make_temporary(target, [&](const std::string& free) {
    temporary.reset();
    temporary.emplace(free);  // before the file is there: a signal may come at once
    made = file_calls::open(free.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return made >= 0;
  });
  if (name.empty())
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path), errno, target,
                 "choose another place");
  File file(made);
  if (!write_all(file.fd(), text) || (waits_for_disk && file_calls::fsync(file.fd()) != 0))
    write_failed(path, name, text.size());
  if (close(file.release()) != 0 || file_calls::rename(name.c_str(), target.c_str()) != 0)
    write_failed(path, name, text.size());
  mark_made(target);
}

void check_writable(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  fail(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path), reason(), "choose another place");
}

void check_not_input(const std::string& output, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (output == "-" || !fs::is_regular_file(output, none)) return;  // a terminal or /dev/null may be both
  const auto of_a_bundle = [](const std::string& name) {
    return name == "manifest.json" || name == "arrays.h5" || (name.starts_with("part-") && name.ends_with(".h5"));
  };
  const auto check = [&](const fs::path& input) {
    std::error_code fault;
    if (!fs::equivalent(output, input, fault)) return;
    fail(ExitStatus::usage, fmt::format("the output '{}' is also an input", output), "it would be lost",
         "choose another name");
  };
  for (const std::string& input : inputs) {
    check(input == "-" ? "/dev/stdin" : input);
    const auto names = names_in(input);
    for (const std::string& name : names.value_or(std::vector<std::string>{}))
      if (of_a_bundle(name)) check(fs::path(input) / name);
  }
}

void check_not_output(const std::string& output, const std::vector<std::string>& others) {
  namespace fs = std::filesystem;
  const auto whole = [](const std::string& name) {
    std::error_code fault;
    const fs::path path = fs::weakly_canonical(fs::absolute(name, fault), fault);
    return fault ? fs::path(name) : path;
  };
  for (const std::string& other : others) {
    if (output == "-" ? other != "-" : other == "-" || whole(output) != whole(other)) continue;
    fail(ExitStatus::usage, fmt::format("two outputs are called '{}'", output), "one would replace the other",
         "give two names");
  }
}

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, on_signal);
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) handle_unless_ignored(number, on_signal);
}

}  // namespace kasen::tools
