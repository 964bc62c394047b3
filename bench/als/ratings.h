// Ratings over fixed users and items, more and more of them: what als.ks and als.py fit.
#pragma once

#include <cstdint>
#include <string>

#include "bench/parts.h"

namespace kasen::bench {

struct Ratings {
  std::string name;     // of the series: "ml" or "made"
  std::string file;     // of MovieLens 100k; empty: made by counting
  std::int64_t wanted;  // about as many ratings
};

// X over N and M.
[[nodiscard]] SparseInput read_ratings(const Ratings& ratings);

// Made ones: a cell is rated if its number is below `density`.
inline constexpr std::int64_t made_users = 10'000, made_items = 5'000;

}  // namespace kasen::bench
