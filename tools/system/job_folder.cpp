#include "tools/system/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view job_prefix = "kasen-job-", job_pattern = "XXXXXX";
constexpr const char* mark = "/.kasen-job";  // a file in the folder, locked by its holders

// The mark, locked. Nothing where there is none, it is another user's, or somebody holds it.
std::optional<int> locked_mark(const std::string& folder) {
  const int file = open((folder + mark).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (file < 0) return std::nullopt;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      flock(file, LOCK_EX | LOCK_NB) == 0)
    return file;
  close(file);
  return std::nullopt;
}

bool is_own_folder(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// Calls `take(path)` for each folder that nobody holds, while it is held here.
template <class Take>
void for_each_left(const std::string& above, const Take& take) {
  for (const std::string& name : names_in(above).value_or(std::vector<std::string>{})) {
    if (!name.starts_with(job_prefix) || name.size() != job_prefix.size() + job_pattern.size()) continue;
    const std::string path = fmt::format("{}/{}", above, name);
    if (!is_own_folder(path)) continue;
    const std::optional<int> lock = locked_mark(path);
    if (!lock) continue;
    take(path);
    close(*lock);
  }
}

std::int64_t bytes_in(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code fault;
  for (fs::recursive_directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    struct stat info {};
    if (lstat(at->path().c_str(), &info) == 0) bytes += std::int64_t{info.st_blocks} * 512;
  }
  return bytes;
}

// The mark is removed last, so that a folder that could not be removed whole is still known.
void remove_folder(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder).value_or(std::vector<std::string>{})) {
    if ('/' + name != mark) fs::remove_all(fmt::format("{}/{}", folder, name), ignored);
  }
  fs::remove_all(folder, ignored);
}

}  // namespace

std::string temporary_folder() {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    const char* const folder = std::getenv(name);
    if (folder != nullptr && *folder != '\0') return folder;
  }
  return "/tmp";
}

// Until it is locked, a cleanup may take the folder for a leftover; then another one is made.
JobFolder::JobFolder(const std::string& above, const std::string& remedy) {
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    if (!path_.empty()) remove_folder(path_);
    fail(ExitStatus::cannot_create, fmt::format("'{}' cannot be written", above), why + "; mpirun works there", remedy);
  };
  for (;;) {
    path_ = fmt::format("{}/{}{}", above, job_prefix, job_pattern);
    if (mkdtemp(path_.data()) == nullptr) {
      path_.clear();
      failed();
    }
    lock_ = open((path_ + mark).c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);  // inherited
    if (lock_ < 0) failed();
    (void)flock(lock_, LOCK_EX);  // a file system without locks: nobody can lock it, and it is nobody's to remove
    struct stat info {};
    if (fstat(lock_, &info) == 0 && info.st_nlink > 0) return;
    close(lock_);
  }
}

JobFolder::JobFolder(JobFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::exchange(other.lock_, -1)) {}

JobFolder::~JobFolder() {
  if (path_.empty()) return;
  remove_folder(path_);
  close(lock_);
}

std::vector<LeftFolder> left_job_folders(const std::string& above) {
  std::vector<LeftFolder> left;
  for_each_left(above, [&](const std::string& path) { left.push_back({path, bytes_in(path)}); });
  return left;
}

void remove_left_job_folders(const std::string& above) { for_each_left(above, remove_folder); }

}  // namespace kasen::tools
