// Open MPI's mpirun can wait for ever. Once a rank was killed while the job began, it waits for a lock of its own, with
// all its processes gone. Once the job is to end, it waits for a node that no longer answers. Nobody waits for it then.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace kasen::tools {

class MpirunWatch {
 public:
  // Kills `mpirun`, and the processes that it started here, where it had processes and then none for `patience`. It
  // ends by itself within seconds, or within a minute on a machine with far too much to do.
  explicit MpirunWatch(pid_t mpirun, std::chrono::seconds patience = std::chrono::seconds(60));
  // The job is over: processes that mpirun still has count as gone from now on.
  void expect_end() { over_ = true; }

 private:
  void watch(const std::stop_token& stop);

  pid_t mpirun_;
  std::chrono::seconds patience_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // the last: it ends before the members that it uses
};

// Processes that `parent` has started and that have not ended.
[[nodiscard]] std::vector<pid_t> living_children(pid_t parent);

}  // namespace kasen::tools
