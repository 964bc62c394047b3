// kasen run --timeout before the ranks watch each other (run/watch.h): MPI may never start.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace kasen::tools {

class StartLimit {
 public:
  // Calls `expired` once, in a thread of its own, if over() is not called within so many seconds (0: any time).
  StartLimit(double seconds, std::function<void(const std::stop_token& stop)> expired);
  // The start is complete.
  void over() { thread_.request_stop(); }

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // the last: it ends before the members that it uses
};

}  // namespace kasen::tools
