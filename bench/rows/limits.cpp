#include "bench/rows/limits.h"

#include <array>
#include <chrono>

namespace kasen::bench {
namespace {

using Vector [[gnu::vector_size(64)]] = double;
using Bits [[gnu::vector_size(64), gnu::aligned(8)]] = std::int64_t;

// So many sums that no addition waits for the one before.
constexpr std::int64_t sums = 12;

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A compiler would multiply and add in one instruction.
[[gnu::optimize("fp-contract=off")]] void multiply_and_add(std::int64_t times) {
  std::array<Vector, sums> total{};
  Vector factor = total[0] + 1.25;
  for (std::int64_t i = 0; i < times; ++i) {
    for (Vector& sum : total) {
      asm volatile("" : "+v"(factor));
      Vector term = factor * factor;
      asm volatile("" : "+v"(term));
      sum += term;
    }
  }
  for (Vector& sum : total) asm volatile("" : : "v"(sum));
}

}  // namespace

double seconds_of_reading(const double* numbers, std::int64_t count, int threads) {
  return seconds([&] {
    constexpr std::int64_t block = 4096;
    std::int64_t seen = 0;
#pragma omp parallel for schedule(static) reduction(| : seen) num_threads(threads)
    for (std::int64_t b = 0; b < count / block; ++b) {
      const auto* at = reinterpret_cast<const Bits*>(numbers + b * block);
      Bits even{}, odd{};
      for (std::int64_t i = 0; i < block / 8; i += 2) {
        even |= at[i];
        odd |= at[i + 1];
      }
      even |= odd;
      for (int l = 0; l < 8; ++l) seen |= even[l];
    }
    asm volatile("" : : "r"(seen));
  });
}

double seconds_of_arithmetic(double multiplications, int threads) {
  const auto times = static_cast<std::int64_t>(multiplications / 8 / sums / threads);
  return seconds([&] {
#pragma omp parallel num_threads(threads)
    multiply_and_add(times);
  });
}

}  // namespace kasen::bench
