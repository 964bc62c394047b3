// Fused vector regions against what the machine's memory gives: sum3.ks and region.ks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/driver.h"

namespace kasen::bench {

constexpr std::int64_t fused_passes = 6;

struct Pass {
  double result = 0;  // what the last pass gave
  double seconds = 0;
};
using Passes = std::function<Pass()>;

// Input `place` of either program.
[[nodiscard]] double fused_element(int place, std::int64_t i);

// By hand, with 512-bit loads where there are any: the products, or only reading the same bytes.
[[nodiscard]] Passes sum3_by_hand(std::int64_t n, int threads, bool only_read);
// By hand: three vectors read, two written in place; or the same bytes with nothing computed.
[[nodiscard]] Passes region_by_hand(std::int64_t n, int threads, bool only_move);

}  // namespace kasen::bench
