// A pool of threads: each part of a loop is done once, and a short loop waits for no thread that does not come.
#include "libcore/system/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kasen {
namespace {

TEST(Threads, EachPartIsDoneOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    for (int loop = 0; loop < 3000; ++loop) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(threads));
      pool.run([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
      for (const std::atomic<int>& count : calls) ASSERT_EQ(count, 1) << threads << " threads, loop " << loop;
      if (loop % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // they sleep by then
    }
  }
}

TEST(Threads, AFaultOfAnyPartIsThrownByTheCaller) {
  ThreadPool pool(3);
  for (int faulty = 0; faulty < 3; ++faulty) {
    std::atomic<int> done{0};
    const auto body = [&](int thread) {
      ++done;
      if (thread == faulty) throw std::runtime_error("part");
    };
    EXPECT_THROW(pool.run(body), std::runtime_error);
    EXPECT_EQ(done, 3);
  }
}

std::atomic<bool> held{false}, released{false};

void hold(int) {
  held = true;
  while (!released) {
  }
}

// A thread that has no processor, as on a machine whose others are at work.
TEST(Threads, ALoopDoesNotWaitForAThreadThatDoesNotCome) {
  ThreadPool pool(2);
  std::atomic<pthread_t> other{};
  const auto began = std::chrono::steady_clock::now();
  while (other == pthread_t{} && std::chrono::steady_clock::now() - began < std::chrono::seconds(20)) {
    pool.run([&](int thread) {
      if (thread == 1 && pthread_equal(pthread_self(), other) == 0) other = pthread_self();
      std::this_thread::sleep_for(std::chrono::milliseconds(thread == 0 ? 1 : 0));
    });
    pool.run([&](int thread) {
      if (thread == 0 && pthread_equal(pthread_self(), other) != 0) other = pthread_t{};  // the caller did both
    });
  }
  ASSERT_NE(other, pthread_t{});
  struct sigaction handler {
  }, before{};
  handler.sa_handler = hold;
  sigaction(SIGUSR2, &handler, &before);
  ASSERT_EQ(pthread_kill(other, SIGUSR2), 0);
  while (!held) std::this_thread::yield();
  std::jthread release([] {
    for (int k = 0; k < 3000 && !released; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    released = true;
  });
  int parts[2] = {0, 0};
  for (int loop = 0; loop < 100; ++loop) pool.run([&](int thread) { ++parts[thread]; });
  EXPECT_FALSE(released.exchange(true)) << "the loops waited";
  EXPECT_EQ(parts[0], 100);
  EXPECT_EQ(parts[1], 100);
  release.join();
  sigaction(SIGUSR2, &before, nullptr);
}

}  // namespace
}  // namespace kasen
