#include "libcore/system/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "libcore/base/error.h"
#include "libcore/system/primitives.h"

namespace kasen {
namespace {

// About 20 microseconds of waiting, longer than the executor needs between two loops. Then for some time each poll
// yields the core to others (ranks that share cores); then the thread sleeps. A wake-up costs tens of microseconds, and
// a millisecond and more on a virtual machine whose idle cores are given to others.
constexpr int spins = 4000;
constexpr std::chrono::milliseconds patience{2};

template <class Ready>
bool wait_awake(const Ready& ready) {
  for (int spin = 0; spin < spins; ++spin) {
    if (ready()) return true;
    spin_pause();
  }
  for (const auto end = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < end;) {
    if (ready()) return true;
    std::this_thread::yield();
  }
  return ready();
}

}  // namespace

ThreadPool::ThreadPool(int threads, Shortage shortage) : shares_(static_cast<size_t>(std::max(threads, 1))) {
  faults_.resize(static_cast<size_t>(std::max(threads, 1)));
  try {
    for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
  } catch (const std::system_error& fault) {
    if (shortage == Shortage::accept) return;
    end();
    fail(ExitStatus::limit, fmt::format("cannot start {} threads", threads), fault.code().message(),
         "use fewer, or raise the limits on processes and memory");
  } catch (...) {
    end();
    throw;
  }
}

ThreadPool::~ThreadPool() { end(); }

// Waits for the threads that have started: a thread that nobody joins would end the process.
void ThreadPool::end() {
  stop_ = true;
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::guarded(int thread) {
  try {
    call_(context_, thread);
  } catch (...) {
    faults_[static_cast<size_t>(thread)] = std::current_exception();
  }
}

// Whose part it is and who runs the loop may both try; one of them does it. A thread that comes so late that the next
// loop has begun finds its part taken, since no loop ends before all parts are.
bool ThreadPool::take(int thread, std::uint32_t loop) {
  std::uint32_t before = loop - 1;
  return shares_[static_cast<size_t>(thread)].taken.compare_exchange_strong(before, loop, std::memory_order_acq_rel);
}

void ThreadPool::work(int thread) {
  std::uint32_t seen = 0;
  for (;;) {
    if (!wait_awake([&] { return epoch_.load(std::memory_order_acquire) != seen; }))
      epoch_.wait(seen, std::memory_order_acquire);
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_) return;
    if (!take(thread, seen)) continue;
    guarded(thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

void ThreadPool::run_erased(Call call, const void* context) {
  call_ = call;
  context_ = context;
  std::fill(faults_.begin(), faults_.end(), nullptr);
  const std::uint32_t loop = epoch_.load(std::memory_order_relaxed) + 1;
  if (!workers_.empty()) {
    running_.store(static_cast<int>(workers_.size()), std::memory_order_release);
    epoch_.store(loop, std::memory_order_release);
    epoch_.notify_all();
  }
  guarded(0);
  for (int t = 1; t < threads(); ++t) {
    if (!take(t, loop)) continue;
    guarded(t);
    running_.fetch_sub(1, std::memory_order_acq_rel);
  }
  (void)wait_awake([&] { return running_.load(std::memory_order_acquire) == 0; });
  for (int left = running_.load(std::memory_order_acquire); left != 0;
       left = running_.load(std::memory_order_acquire)) {
    running_.wait(left, std::memory_order_acquire);
  }
  for (const std::exception_ptr& fault : faults_) {
    if (fault) std::rethrow_exception(fault);
  }
}

WorkQueue::WorkQueue(std::int64_t count, int threads) : runs_(static_cast<size_t>(threads)) {
  for (int t = 0; t < threads; ++t) {
    runs_[static_cast<size_t>(t)].next = count * t / threads;
    runs_[static_cast<size_t>(t)].end = count * (t + 1) / threads;
  }
}

WorkQueue::WorkQueue(std::span<const std::int64_t> starts) : runs_(starts.size() - 1) {
  for (size_t t = 0; t + 1 < starts.size(); ++t) {
    runs_[t].next = starts[t];
    runs_[t].end = starts[t + 1];
  }
}

std::int64_t WorkQueue::next(int thread) {
  const size_t n = runs_.size();
  for (size_t k = 0; k < n; ++k) {
    Run& run = runs_[(static_cast<size_t>(thread) + k) % n];
    if (run.next.load(std::memory_order_relaxed) >= run.end) continue;
    const std::int64_t piece = run.next.fetch_add(1, std::memory_order_relaxed);
    if (piece < run.end) return piece;
  }
  return -1;
}

}  // namespace kasen
