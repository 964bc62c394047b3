// Open MPI's mpirun can wait for a lock of its own for ever once a rank was killed while the job began: all its
// processes are gone, and it stays. Nobody waits for it then.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kasen::tools {

class MpirunWatch {
 public:
  // Kills `mpirun` where it had processes and had none left for `patience`. It ends by itself within seconds, a minute
  // on a machine with far too much to do.
  explicit MpirunWatch(pid_t mpirun, std::chrono::seconds patience = std::chrono::seconds(60));

 private:
  void watch(const std::stop_token& stop);

  pid_t mpirun_;
  std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // the last: it ends before what it uses
};

// Processes that `parent` has started and that have not ended.
[[nodiscard]] int living_children(pid_t parent);

}  // namespace kasen::tools
