#include "libcore/system/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/system/file_calls.h"

namespace kasen {
namespace {

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

FileLock::FileLock(std::string path, Children children) : path_(std::move(path)) {
  const int at_exec = children == Children::apart ? O_CLOEXEC : 0;
  fd_ = file_calls::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | at_exec, 0666);
  if (fd_ < 0) fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path_), errno, path_);
}

FileLock::~FileLock() { close(fd_); }

bool FileLock::lock(int how) {
  while (flock(fd_, how) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR)
      fail(ExitStatus::cannot_create, fmt::format("cannot lock '{}'", path_), reason(),
           "name a folder on a file system that has locks");
  }
  return true;
}

bool FileLock::take() { return lock(LOCK_EX | LOCK_NB); }

void FileLock::wait() { (void)lock(LOCK_EX); }

}  // namespace kasen
