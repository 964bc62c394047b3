// Inputs made by counting: number i of stream s is a function of both alone, so that every contestant, in whatever
// language, makes the same ones (counted.py).
#pragma once

#include <cstdint>

namespace kasen::bench {

// Uniform in [0, 1): the finalizer of SplitMix64 (Steele, Lea, Flood 2014) over a counter.
[[nodiscard]] inline double uniform(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = (stream << 40U) + i + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

}  // namespace kasen::bench
