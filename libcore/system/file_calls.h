// The system's calls on files, plus the faults that a test injects (libcore/system/fault.h). All code that reads or
// makes files calls these.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "libcore/system/fault.h"

namespace kasen::file_calls {

[[nodiscard]] inline int openat(int folder, const char* path, int flags, mode_t mode = 0) {
  const FaultPoint point = (flags & O_CREAT) != 0 ? FaultPoint::create : FaultPoint::open;
  return pass_point(point) < 0 ? -1 : ::openat(folder, path, flags, mode);
}
[[nodiscard]] inline int open(const char* path, int flags, mode_t mode = 0) {
  return file_calls::openat(AT_FDCWD, path, flags, mode);
}
// True if a file that does not open does not exist for this user. False if the system only cannot reach it now.
[[nodiscard]] inline bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP || error == ENAMETOOLONG;
}
[[nodiscard]] inline int mkdir(const char* path, mode_t mode) {
  return pass_point(FaultPoint::create) < 0 ? -1 : ::mkdir(path, mode);
}

// Calls move(bytes) with the number of bytes that may be moved.
template <class Move>
[[nodiscard]] ssize_t moved(FaultPoint point, std::size_t bytes, const Move& move) {
  const std::int64_t most = pass_point(point, static_cast<std::int64_t>(bytes));
  return most < 0 ? -1 : move(static_cast<std::size_t>(most));
}
[[nodiscard]] inline ssize_t read(int fd, void* data, std::size_t bytes) {
  return moved(FaultPoint::read, bytes, [&](std::size_t most) { return ::read(fd, data, most); });
}
[[nodiscard]] inline ssize_t pread(int fd, void* data, std::size_t bytes, off_t offset) {
  return moved(FaultPoint::read, bytes, [&](std::size_t most) { return ::pread(fd, data, most, offset); });
}
[[nodiscard]] inline ssize_t write(int fd, const void* data, std::size_t bytes) {
  return moved(FaultPoint::write, bytes, [&](std::size_t most) { return ::write(fd, data, most); });
}
[[nodiscard]] inline ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t offset) {
  return moved(FaultPoint::write, bytes, [&](std::size_t most) { return ::pwrite(fd, data, most, offset); });
}

[[nodiscard]] inline int fsync(int fd) { return pass_point(FaultPoint::sync) < 0 ? -1 : ::fsync(fd); }
[[nodiscard]] inline int renameat(int folder, const char* from, int to_folder, const char* to, unsigned flags = 0) {
  return pass_point(FaultPoint::rename) < 0 ? -1 : ::renameat2(folder, from, to_folder, to, flags);
}
[[nodiscard]] inline int rename(const char* from, const char* to, unsigned flags = 0) {
  return file_calls::renameat(AT_FDCWD, from, AT_FDCWD, to, flags);
}

}  // namespace kasen::file_calls
