// Numbers that look random (splitmix64): equal seeds draw equal numbers with every library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasen::spread {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  // Below the count, which is far below 2^64: all are as likely.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace kasen::spread
