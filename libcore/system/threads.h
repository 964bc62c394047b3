// The threads of this process that share work: a pool for loops of kernels and for pieces of data. It spins briefly
// between loops (a loop of an iteration follows the last one within microseconds) and sleeps after that.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>
#include <vector>

namespace kasen {

class ThreadPool {
 public:
  // What if the system gives fewer threads: UserError(limit), or those share the work.
  enum class Shortage : std::uint8_t { refuse, accept };
  explicit ThreadPool(int threads, Shortage shortage = Shortage::refuse);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(thread) once for each thread, the caller being thread 0, and returns when all are done. The caller also
  // does what is a thread's that has not come by then, so that a short loop never waits for one to wake up, or for a
  // processor that others use. No body waits for another one. An exception of any of them is thrown again here.
  template <class Body>
  void run(const Body& body) {
    run_erased([](const void* context, int thread) { (*static_cast<const Body*>(context))(thread); }, &body);
  }

 private:
  using Call = void (*)(const void* context, int thread);
  void run_erased(Call call, const void* context);
  void work(int thread);
  void guarded(int thread);
  [[nodiscard]] bool take(int thread, std::uint32_t loop);
  void end();

  struct alignas(64) Share {
    std::atomic<std::uint32_t> taken{0};  // the last loop in which somebody did the thread's part
  };

  std::vector<std::thread> workers_;
  std::vector<Share> shares_;
  Call call_ = nullptr;
  const void* context_ = nullptr;
  std::atomic<std::uint32_t> epoch_{0};  // counts the loops begun
  std::atomic<int> running_{0};          // parts of workers that are not done in this loop
  std::atomic<bool> stop_{false};
  std::vector<std::exception_ptr> faults_;  // one a thread
};

// Shares `count` pieces of work among threads. Each has a run of its own, the same one every time, so that its part of
// the data stays in its cache. It takes pieces from the others' runs when it is done.
class WorkQueue {
 public:
  WorkQueue(std::int64_t count, int threads);
  explicit WorkQueue(std::span<const std::int64_t> starts);  // of each thread's own run, and the number of pieces
  // The next piece for this thread, or -1.
  [[nodiscard]] std::int64_t next(int thread);

 private:
  struct alignas(64) Run {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  std::vector<Run> runs_;
};

// Calls body(thread, piece) for each piece of the queue, on all threads of the pool.
template <class Body>
void share_out(ThreadPool& pool, WorkQueue queue, const Body& body) {
  pool.run([&](int thread) {
    for (std::int64_t piece = queue.next(thread); piece >= 0; piece = queue.next(thread)) body(thread, piece);
  });
}
// A single piece wakes no other thread.
template <class Body>
void share_out(ThreadPool& pool, std::int64_t pieces, const Body& body) {
  if (pieces > 1 && pool.threads() > 1) return share_out(pool, WorkQueue(pieces, pool.threads()), body);
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(0, piece);
}

}  // namespace kasen
