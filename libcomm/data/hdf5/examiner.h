// A separate process examines files of others, so that no file can harm this process through a library. The examiner
// may not open, create or start anything, and has little memory and time. If it is lost, the file is refused. It is a
// fork of this process, made before the first file or by start(); the earlier, the less it copies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "libcomm/data/base/new_file.h"

namespace kasen {

struct ExaminerLimits {
  std::int64_t memory = std::int64_t{256} << 20;  // bytes beyond those that the process has at its start
  std::int64_t answer = std::int64_t{64} << 20;   // bytes of an answer
  std::chrono::seconds wait{60};                  // for an answer
  int cpu_seconds = 60;                           // of the process
};

// One question at a time.
class Examiner {
 public:
  // In the process: `prepare` runs before it is shut in, then `examine` for each file, open for reading.
  struct Work {
    void (*prepare)();
    std::string (*examine)(int file);
  };
  explicit Examiner(Work work, ExaminerLimits limits = {}) : work_(work), limits_(limits) {}
  ~Examiner() { stop(); }
  Examiner(const Examiner&) = delete;
  Examiner& operator=(const Examiner&) = delete;

  void start();  // UserError: limit
  void stop();   // it starts again by itself
  // Returns the result of `examine`. UserError, naming `path`: bad_input (the process was lost), limit (no memory).
  [[nodiscard]] std::string ask(const FileHandle& file, const std::string& path);

 private:
  enum class Reply : std::uint8_t { whole, lost, late, long_ };
  [[nodiscard]] Reply try_once(const FileHandle& file, std::string& answer);
  struct End {
    std::string text;        // how it ended
    bool no_memory = false;  // it had none, or was killed, as the system does without memory
  };
  [[nodiscard]] End end();  // of a process that gave no answer

  Work work_;
  ExaminerLimits limits_;
  pid_t process_ = -1;
  int socket_ = -1;
  bool asked_ = false;  // this process has answered before
};

// Reports that no memory is left to examine a file, which says nothing about the file. UserError(limit).
[[noreturn]] void fail_unexamined(const std::string& path);

// examiner_child.cpp: the work of the process at its end of the socket, until that is closed.
[[noreturn]] void serve_examinations(int socket, Examiner::Work work, const ExaminerLimits& limits);
// In the process: whether the system gives it hardly any more memory. Errors are then not the file's doing.
[[nodiscard]] bool memory_is_short();
constexpr int out_of_memory = 69;  // the process's exit status

}  // namespace kasen
