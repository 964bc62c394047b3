// Loops over independent pieces of work on all cores. What a piece computes must not depend on who runs it.
#pragma once

#include <cstdint>
#include <functional>

namespace kasen {

// Threads that parallel_for uses at most; where the system gives fewer, those do the work.
[[nodiscard]] int data_threads();

// Calls work(i, thread) for each i in 0..count-1; thread is below data_threads(), and no two pieces run with the same
// thread number at a time. The first exception thrown by a piece (the lowest i) is thrown again here.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t i, int thread)>& work);

}  // namespace kasen
