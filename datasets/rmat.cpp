#include "datasets/rmat.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/draws.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

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
    return edge_of(names_(from), names_(to));
  }

 private:
  int scale_;
  std::uint64_t key_;
  Names names_;
  std::uint32_t a_ = 0, ab_ = 0, abc_ = 0;
};

void check(const RmatOptions& options) {
  check_size(options.scale, options.edges);
  const double rest = 1 - options.a - options.b - options.c;
  if (options.a < 0 || options.b < 0 || options.c < 0 || !(rest > -1e-12))
    fail(ExitStatus::usage, "the quadrants' probabilities are not parts of 1",
         "each is at least 0, and a + b + c at most 1");
}

}  // namespace

EdgeRuns rmat_edges(const RmatOptions& options) {
  check(options);
  return drawn_edges(options.scale, options.edges, Drawer(options));
}

}  // namespace kasen
