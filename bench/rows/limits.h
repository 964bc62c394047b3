// The two limits of a pass over the rows of a dense matrix, by hand: moving its bytes, and its arithmetic.
#pragma once

#include <cstdint>

namespace kasen::bench {

// Seconds in which the threads read so many f64 together. The least of some repetitions.
[[nodiscard]] double seconds_of_reading(const double* numbers, std::int64_t count, int threads);

// Seconds in which they multiply and add so many times, each with a rounding of its own, in registers.
[[nodiscard]] double seconds_of_arithmetic(double multiplications, int threads);

}  // namespace kasen::bench
