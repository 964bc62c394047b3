// A file that one process at a time holds. The system releases it at once, however the process ends.
#pragma once

#include <string>

namespace kasen {

class FileLock {
 public:
  // `together`: processes started while it is held hold it, too. It protects their writes even if this one is killed.
  enum class Children { apart, together };
  // Creates the file if it does not exist; it stays, empty. UserError(cannot_create).
  explicit FileLock(std::string path, Children children = Children::apart);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // False: another process holds it. UserError(cannot_create): the file system has no locks.
  [[nodiscard]] bool take();
  // Waits until no other process holds it.
  void wait();

 private:
  bool lock(int how);
  std::string path_;
  int fd_ = -1;
};

}  // namespace kasen
