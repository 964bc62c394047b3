#include "libcomm/data/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "libcore/system/processors.h"
#include "libcore/system/threads.h"

namespace kasen {

int data_threads() {
  constexpr int most = 64;
  return std::min(usable_threads(), most);
}

void parallel_for(std::int64_t count, const std::function<void(std::int64_t, int)>& work) {
  const int threads = static_cast<int>(std::min<std::int64_t>(count, data_threads()));
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::int64_t failed_at = count;
  const auto run = [&](int thread) {
    for (std::int64_t i = next++; i < count; i = next++) {
      try {
        work(i, thread);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
  };
  ThreadPool(threads, ThreadPool::Shortage::accept).run(run);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kasen
