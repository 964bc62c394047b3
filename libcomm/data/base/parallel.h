// Loops over independent pieces of work on all cores. A piece's result must not depend on the thread that runs it.
#pragma once

#include <cstdint>
#include <functional>

namespace kasen {

// The most threads that parallel_for uses; if the system gives fewer, those do the work.
[[nodiscard]] int data_threads();

// Calls work(i, thread) for each i in 0..count-1; thread is below data_threads(), and no two pieces run with the same
// thread number at a time. The first exception thrown by a piece (the lowest i) is thrown again here.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t i, int thread)>& work);

}  // namespace kasen
