#include "tools/launch/start_limit.h"

#include <chrono>
#include <utility>

namespace kasen::tools {

StartLimit::StartLimit(double seconds, std::function<void(const std::stop_token& stop)> expired) {
  if (seconds <= 0) return;
  thread_ = std::jthread([this, seconds, expired = std::move(expired)](const std::stop_token& stop) {
    {
      std::unique_lock lock(mutex_);
      stopped_.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
    }
    if (!stop.stop_requested()) expired(stop);
  });
}

}  // namespace kasen::tools
