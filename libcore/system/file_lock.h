// A file that one process at a time holds. The system lets go of it however the process ends, and at once.
#pragma once

#include <string>

namespace kasen {

class FileLock {
 public:
  // Processes that are started while it is held hold it, too: what they still write when this one is killed is theirs.
  enum class Children { apart, together };
  // Makes the file where it is not there; it stays, empty. UserError(cannot_create).
  explicit FileLock(std::string path, Children children = Children::apart);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // False: another process holds it. UserError(cannot_create): the file system has no locks.
  [[nodiscard]] bool take();
  // Waits until nobody else holds it.
  void wait();

 private:
  bool lock(int how);
  std::string path_;
  int fd_ = -1;
};

}  // namespace kasen
