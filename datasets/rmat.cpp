#include "datasets/rmat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcore/base/error.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

// A bijection of 64 bits that leaves no pattern (the finalizer of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// A permutation of 0..2^bits-1: odd factors and shifted sums, each of which can be undone.
class Names {
 public:
  Names(int bits, std::uint64_t seed) : mask_((std::uint64_t{1} << bits) - 1), shift_(std::max(1, (bits + 1) / 2)) {
    for (std::size_t k = 0; k < factors_.size(); ++k) factors_[k] = mix(seed + k) | 1U;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    for (const std::uint64_t factor : factors_) {
      x = (x * factor + (factor >> 32U)) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  std::uint64_t mask_;
  int shift_;
  std::array<std::uint64_t, 3> factors_{};
};

class Drawer {
 public:
  explicit Drawer(const RmatOptions& options)
      : scale_(options.scale), key_(mix(options.seed)), names_(options.scale, mix(options.seed + 1)) {
    const auto part = [](double p) { return static_cast<std::uint32_t>(std::lround(p * 65536)); };
    a_ = part(options.a);
    ab_ = part(options.a + options.b);
    abc_ = part(options.a + options.b + options.c);
  }

  // Edge number k: sixteen bits decide a quadrant, level by level. It has no branch, which would be mispredicted at
  // every other level. As a <= a + b <= a + b + c, the target's bit is set beyond one of them or all three.
  [[nodiscard]] std::uint64_t operator()(std::int64_t k) const {
    std::uint64_t from = 0, to = 0, word = 0;
    const std::uint64_t key = mix(key_ ^ static_cast<std::uint64_t>(k));
    for (int level = 0; level < scale_; ++level) {
      if (level % 4 == 0) word = mix(key + static_cast<std::uint64_t>(level));
      const auto draw = static_cast<std::uint32_t>(word & 0xffffU);
      word >>= 16U;
      const auto past_a = static_cast<unsigned>(draw >= a_), past_ab = static_cast<unsigned>(draw >= ab_);
      from = from << 1U | past_ab;
      to = to << 1U | (past_a ^ past_ab ^ static_cast<unsigned>(draw >= abc_));
    }
    return names_(from) << 32U | names_(to);
  }

 private:
  int scale_;
  std::uint64_t key_;
  Names names_;
  std::uint32_t a_ = 0, ab_ = 0, abc_ = 0;
};

constexpr std::int64_t pieces = 64;  // of the edges' numbers; each knows its positions in the buckets
constexpr int bucket_bits = 10;      // of the sources

void check(const RmatOptions& options) {
  const double rest = 1 - options.a - options.b - options.c;
  if (options.scale < 1 || options.scale > 31)
    fail(ExitStatus::usage, fmt::format("a graph of scale {}", options.scale), "scales are 1 to 31");
  if (options.edges < 0) fail(ExitStatus::usage, fmt::format("a graph of {} edges", options.edges));
  if (options.a < 0 || options.b < 0 || options.c < 0 || !(rest > -1e-12))
    fail(ExitStatus::usage, "the quadrants' probabilities are not parts of 1",
         "each is at least 0, and a + b + c at most 1");
  const std::int64_t most = available_memory().value_or(std::numeric_limits<std::int64_t>::max()) / 9;
  if (options.edges > most)
    fail(ExitStatus::limit, fmt::format("{} edges do not fit into memory", options.edges),
         fmt::format("they take 8 bytes each and there is room for {}", most), "draw fewer edges");
}

}  // namespace

std::int64_t EdgeRuns::count() const {
  std::int64_t count = 0;
  for (const auto& run : runs) count += static_cast<std::int64_t>(run.size());
  return count;
}

// Draws twice: to count the edges of each bucket of sources, and to put them there.
EdgeRuns rmat_edges(const RmatOptions& options) {
  check(options);
  const Drawer draw(options);
  const int shift = 32 + std::max(0, options.scale - bucket_bits);
  const auto buckets = static_cast<std::size_t>(1) << static_cast<unsigned>(std::min(options.scale, bucket_bits));
  std::vector<std::vector<std::int64_t>> at(pieces, std::vector<std::int64_t>(buckets, 0));
  const auto each = [&](const auto& visit) {
    parallel_for(pieces, [&](std::int64_t p, int) {
      std::vector<std::int64_t>& mine = at[static_cast<std::size_t>(p)];
      const std::int64_t end = options.edges / pieces * (p + 1) + options.edges % pieces * (p + 1) / pieces;
      for (std::int64_t k = options.edges / pieces * p + options.edges % pieces * p / pieces; k < end; ++k) {
        const std::uint64_t edge = draw(k);
        visit(mine[edge >> static_cast<unsigned>(shift)], edge);
      }
    });
  };
  each([](std::int64_t& count, std::uint64_t) { ++count; });
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

EdgeRuns star_edges(std::int64_t vertices) {
  if (vertices < 1 || vertices > std::int64_t{1} << 31)
    fail(ExitStatus::usage, fmt::format("a star of {} vertices", vertices), "it has 1 to 2^31");
  EdgeRuns edges;
  auto& run = edges.runs.emplace_back();
  for (std::int64_t v = 1; v < vertices; ++v) run.push_back(static_cast<std::uint64_t>(v));
  for (std::int64_t v = 1; v < vertices; ++v) run.push_back(static_cast<std::uint64_t>(v) << 32U);
  return edges;
}

}  // namespace kasen
