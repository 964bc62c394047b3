#include "libcomm/data/base/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/base/missing_file.h"
#include "libcore/system/file_calls.h"

namespace kasen {
namespace {

[[noreturn]] void fail_on(ExitStatus status, const std::string& what, const std::string& path,
                          std::int64_t needed = 0) {
  const int fault = errno;
  fail_on_disk(status, fmt::format("cannot {} '{}'", what, shown_path(path)), fault, path,
               status == ExitStatus::missing_input ? missing_file_remedy(path) : "", needed);
}

void remove_quietly(const std::string& path) {
  std::error_code fault;
  std::filesystem::remove_all(path, fault);
  if (fault) remove_temporary(path.c_str());  // listing a folder needs memory, and there may be none
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

[[noreturn]] void refuse_special(const std::string& path) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not a regular file", path));
}

}  // namespace

FileHandle FileHandle::open_regular(const std::string& path, int flags) {
  FileHandle file(file_calls::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags), path);
  if (file.fd_ < 0 && errno == ELOOP && flags == O_NOFOLLOW)
    fail(ExitStatus::bad_input, fmt::format("'{}' is a link", path), "it may lead out of its folder",
         "put the file itself there");
  if (file.fd_ < 0 && errno == ENXIO) refuse_special(path);  // a socket
  if (file.fd_ < 0) fail_on(errno == ENOENT ? ExitStatus::missing_input : ExitStatus::io, "open", path);
  struct stat facts {};
  if (fstat(file.fd_, &facts) != 0) fail_on(ExitStatus::io, "inspect", path);
  if (!S_ISREG(facts.st_mode)) refuse_special(path);
  return file;
}

FileHandle FileHandle::open_to_read(const std::string& path) { return open_regular(path, 0); }

FileHandle FileHandle::open_in_folder(const std::string& path) { return open_regular(path, O_NOFOLLOW); }

FileHandle FileHandle::open_to_write(const std::string& path) {
  FileHandle file(file_calls::open(path.c_str(), O_WRONLY | O_CLOEXEC), path);
  if (file.fd_ < 0) fail_on(ExitStatus::io, "open", path);
  return file;
}

FileHandle FileHandle::create(const std::string& path) {
  FileHandle file(file_calls::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), path);
  if (file.fd_ < 0) fail_on(ExitStatus::cannot_create, "create", path);
  return file;
}

FileHandle::FileHandle(FileHandle&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

FileTimes FileHandle::times() const {
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) fail_on(ExitStatus::io, "inspect", path_);
  constexpr std::int64_t second_ns = 1'000'000'000;
  return {facts.st_size, facts.st_mtim.tv_sec * second_ns + facts.st_mtim.tv_nsec};
}

std::int64_t FileHandle::read_some(std::int64_t offset, std::byte* data, std::int64_t bytes) const {
  for (;;) {
    const ssize_t got = file_calls::pread(fd_, data, static_cast<std::size_t>(bytes), offset);
    if (got >= 0) return got;
    if (errno != EINTR) fail_on(ExitStatus::io, "read", path_);
  }
}

void FileHandle::read(std::int64_t offset, std::byte* data, std::int64_t bytes) const {
  while (bytes > 0) {
    const std::int64_t got = read_some(offset, data, std::min(bytes, std::int64_t{1} << 30));
    if (got == 0) fail(ExitStatus::bad_input, fmt::format("'{}' ends too early", path_), "it is cut off");
    offset += got;
    data += got;
    bytes -= got;
  }
}

void FileHandle::write(std::int64_t offset, const void* data, std::int64_t bytes) const {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const auto length = static_cast<std::size_t>(std::min(bytes, std::int64_t{1} << 30));
    const ssize_t put = file_calls::pwrite(fd_, from, length, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail_on(ExitStatus::io, "write", path_, bytes);
    offset += put;
    from += put;
    bytes -= put;
  }
}

void FileHandle::start_syncing(std::int64_t offset, std::int64_t bytes) const {
  constexpr std::int64_t many_bytes = std::int64_t{1} << 20;
  if (bytes >= many_bytes) (void)sync_file_range(fd_, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

void FileHandle::close(Sync sync) {
  // Some file systems (/dev/full, pipes) cannot sync; they reported their failures at the write.
  if (sync == Sync::yes && file_calls::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS)
    fail_on(ExitStatus::io, "sync", path_);
  if (::close(std::exchange(fd_, -1)) != 0) fail_on(ExitStatus::io, "close", path_);
}

void write_new_file(const std::string& path, std::string_view content, Sync sync) {
  FileHandle file = FileHandle::create(path);
  file.write(0, content.data(), static_cast<std::int64_t>(content.size()));
  file.close(sync);
}

std::string read_whole_file(const std::string& path, std::int64_t most_bytes) {
  const FileHandle file = FileHandle::open_in_folder(path);
  const std::int64_t size = file.size();
  if (size > most_bytes)
    fail(ExitStatus::bad_input, fmt::format("'{}' has {} bytes", path, size),
         fmt::format("at most {} are read", most_bytes));
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(0, reinterpret_cast<std::byte*>(content.data()), size);
  return content;
}

void sync_folder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that cannot be read can still be written: the rename itself holds
  const int result = file_calls::fsync(fd);
  const int error = errno;
  close(fd);
  errno = error;
  if (result != 0 && error != EINVAL && error != EROFS) fail_on(ExitStatus::io, "sync", path);
}

std::string parent_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool exists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;
}

void remove_folder(const std::string& path) {
  std::string away = path;
  if (shown_path(path) == path) {
    away = make_temporary(path, [&](const std::string& name) {
      return file_calls::rename(path.c_str(), name.c_str(), RENAME_NOREPLACE) == 0;
    });
    if (away.empty()) fail_on(ExitStatus::io, "remove", path);
  }
  const Temporary guard(away);
  remove_quietly(away);
}

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  // Looks at the path itself: behind /dev/stdout there may be a pipe, which has no path of its own.
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_regular_file(path_, error))
    fail(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path_), "this path is not a regular file",
         "name a file");
  // A link keeps its target: the file behind it changes.
  const fs::path target =
      fs::is_symlink(path_, error) ? fs::path(path_).parent_path() / fs::read_symlink(path_, error) : fs::path(path_);
  const fs::path whole = fs::weakly_canonical(target, error);
  if (!error && !whole.empty()) path_ = whole.string();
  do temporary_ = temporary_name(path_);
  while (exists(temporary_));
  guard_.emplace(temporary_);
}

NewFile::~NewFile() {
  if (!committed_) unlink(temporary_.c_str());
}

void NewFile::commit() {
  if (file_calls::rename(temporary_.c_str(), path_.c_str()) != 0) fail_on(ExitStatus::cannot_create, "create", path_);
  committed_ = true;
  sync_folder(parent_folder(path_));
}

void require_new(const std::string& path) {
  const std::string name = without_slash(path);
  if (exists(name))
    fail(ExitStatus::cannot_create, fmt::format("'{}' already exists", name), "",
         "choose another name, or add --replace");
}

NewFolder::NewFolder(std::string path, bool replace, Sync sync)
    : path_(without_slash(std::move(path))), replace_(replace), sync_(sync) {
  if (!replace_) require_new(path_);
  temporary_ =
      make_temporary(path_, [](const std::string& name) { return file_calls::mkdir(name.c_str(), 0777) == 0; });
  if (temporary_.empty()) fail_on(ExitStatus::cannot_create, "create", path_);
  guard_.emplace(temporary_);
}

NewFolder::~NewFolder() {
  if (!committed_ && !temporary_.empty()) remove_quietly(temporary_);
}

void NewFolder::commit() {
  const auto settle = [&](const std::string& folder) {
    if (sync_ == Sync::yes) sync_folder(folder);
  };
  settle(temporary_);
  const char* from = temporary_.c_str();
  const char* to = path_.c_str();
  if (file_calls::rename(from, to, RENAME_NOREPLACE) == 0) {
    committed_ = true;
    settle(parent_folder(path_));
    return;
  }
  if (errno == EEXIST && !replace_)
    fail(ExitStatus::cannot_create, fmt::format("'{}' already exists", path_), "it was made meanwhile");
  if (errno != EEXIST) fail_on(ExitStatus::cannot_create, "create", path_);
  // One step swaps both; the old one, now under the temporary name, is removed afterwards.
  if (file_calls::rename(from, to, RENAME_EXCHANGE) != 0) fail_on(ExitStatus::cannot_create, "replace", path_);
  settle(parent_folder(path_));  // if that fails, the destructor removes the old one
  remove_quietly(temporary_);
  committed_ = true;
}

}  // namespace kasen
