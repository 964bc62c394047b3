// Edges that are drawn by number, in any order, brought into the order of EdgeRuns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "datasets/edge_runs.h"
#include "libcomm/data/base/parallel.h"

namespace kasen {

// A bijection of 64 bits that leaves no pattern (the finalizer of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

[[nodiscard]] constexpr std::uint64_t edge_of(std::uint64_t from, std::uint64_t to) { return from << 32U | to; }

// Edges draw(0) .. draw(count - 1) among 2^scale vertices; repeated ones are left out. `draw` is a function of the
// number alone, and is called twice for each: to count the edges of each bucket of sources, and to put them there.
template <class Draw>
[[nodiscard]] EdgeRuns drawn_edges(int scale, std::int64_t count, const Draw& draw) {
  constexpr std::int64_t pieces = 64;  // of the edges' numbers; each knows its positions in the buckets
  constexpr int bucket_bits = 10;      // of the sources
  const int shift = 32 + std::max(0, scale - bucket_bits);
  const auto buckets = static_cast<std::size_t>(1) << static_cast<unsigned>(std::min(scale, bucket_bits));
  std::vector<std::vector<std::int64_t>> at(pieces, std::vector<std::int64_t>(buckets, 0));
  const auto each = [&](const auto& visit) {
    parallel_for(pieces, [&](std::int64_t p, int) {
      std::vector<std::int64_t>& mine = at[static_cast<std::size_t>(p)];
      const std::int64_t end = count / pieces * (p + 1) + count % pieces * (p + 1) / pieces;
      for (std::int64_t k = count / pieces * p + count % pieces * p / pieces; k < end; ++k) {
        const std::uint64_t edge = draw(k);
        visit(mine[edge >> static_cast<unsigned>(shift)], edge);
      }
    });
  };
  each([](std::int64_t& number, std::uint64_t) { ++number; });
  EdgeRuns edges;
  edges.runs.resize(buckets);
  for (std::size_t b = 0; b < buckets; ++b) {
    std::int64_t total = 0;
    for (auto& piece : at) total += std::exchange(piece[b], total);
    edges.runs[b].resize(static_cast<std::size_t>(total));
  }
  each([&](std::int64_t& next, std::uint64_t edge) {
    edges.runs[edge >> static_cast<unsigned>(shift)][static_cast<std::size_t>(next++)] = edge;
  });
  parallel_for(static_cast<std::int64_t>(buckets), [&](std::int64_t b, int) {
    auto& run = edges.runs[static_cast<std::size_t>(b)];
    std::sort(run.begin(), run.end());
    run.erase(std::unique(run.begin(), run.end()), run.end());
  });
  return edges;
}

}  // namespace kasen
