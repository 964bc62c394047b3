#include "datasets/communities.h"

#include <algorithm>
#include <cmath>

#include "datasets/draws.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

using Sums = std::vector<std::uint64_t>;

// At least 1, with the density x^(-7/3): u^(-3/4) of a uniform u. Square roots and quotients are the same everywhere.
double power_law(std::uint64_t bits) {
  const double root = std::sqrt(static_cast<double>((bits >> 11U) + 1) * 0x1p-53);
  return 1 / (root * std::sqrt(root));
}

// Sums of the weights of the vertices before each, in 256ths. No weight is above 65,536, so no sum is above 2^55.
Sums weight_sums(std::uint64_t vertices, std::uint64_t key) {
  Sums sums(vertices + 1);
  for (std::uint64_t v = 0; v < vertices; ++v) {
    sums[v + 1] = sums[v] + static_cast<std::uint64_t>(256 * std::min(65536.0, power_law(mix(key ^ v))));
  }
  return sums;
}

// The first vertex of each community, and the number of vertices. A community has 32 vertices or more, but the last.
std::vector<std::uint64_t> community_starts(std::uint64_t vertices, std::uint64_t key) {
  const double most = std::max(32.0, static_cast<double>(vertices) / 16);
  std::vector<std::uint64_t> starts{0};
  for (std::uint64_t c = 0; starts.back() < vertices; ++c) {
    const double size = std::min(most, 32 * power_law(mix(key ^ c)));
    starts.push_back(std::min(vertices, starts.back() + static_cast<std::uint64_t>(size)));
  }
  return starts;
}

// The vertex of begin..end in whose share of the weights a random place is.
std::uint64_t drawn_vertex(const Sums& sums, std::uint64_t begin, std::uint64_t end, std::uint64_t bits) {
  const std::uint64_t place = sums[begin] + bits % (sums[end] - sums[begin]);
  const auto first = sums.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto after = std::upper_bound(first, sums.begin() + static_cast<std::ptrdiff_t>(end), place);
  return static_cast<std::uint64_t>(after - sums.begin()) - 1;
}

class BlockModel {
 public:
  explicit BlockModel(const CommunityOptions& options)
      : edges_(static_cast<double>(options.edges)),
        leaving_(static_cast<std::uint64_t>(options.leaving * 0x1p53)),
        key_(mix(options.seed)),
        vertices_(std::uint64_t{1} << static_cast<unsigned>(options.scale)),
        from_(weight_sums(vertices_, mix(key_ + 1))),
        to_(weight_sums(vertices_, mix(key_ + 2))),
        starts_(community_starts(vertices_, mix(key_ + 3))) {}

  [[nodiscard]] std::int64_t communities() const { return static_cast<std::int64_t>(starts_.size()) - 1; }

  // The edges from the vertices of a community, which has all of its sources' edges: by source, then target.
  [[nodiscard]] std::vector<std::uint64_t> edges_from(std::int64_t community) const {
    const std::uint64_t begin = starts_[static_cast<std::size_t>(community)];
    const std::uint64_t end = starts_[static_cast<std::size_t>(community) + 1];
    std::vector<std::uint64_t> edges;
    for (std::uint64_t v = begin; v < end; ++v) {
      const auto first = static_cast<std::ptrdiff_t>(edges.size());
      for (std::uint64_t k = edges_before(v); k < edges_before(v + 1); ++k) {
        const std::uint64_t chance = mix(key_ ^ k), place = mix(chance);
        edges.push_back(edge_of(v, chance >> 11U < leaving_ ? drawn_vertex(to_, 0, vertices_, place)
                                                            : drawn_vertex(to_, begin, end, place)));
      }
      std::sort(edges.begin() + first, edges.end());
      edges.erase(std::unique(edges.begin() + first, edges.end()), edges.end());
    }
    return edges;
  }

 private:
  // Shares all edges out by the weights of their sources.
  [[nodiscard]] std::uint64_t edges_before(std::uint64_t v) const {
    return static_cast<std::uint64_t>(edges_ * (static_cast<double>(from_[v]) / static_cast<double>(from_.back())));
  }

  double edges_;
  std::uint64_t leaving_, key_, vertices_;
  Sums from_, to_;
  std::vector<std::uint64_t> starts_;
};

}  // namespace

EdgeRuns community_edges(const CommunityOptions& options) {
  check_size(options.scale, options.edges);
  if (!(options.leaving >= 0 && options.leaving <= 1))
    fail(ExitStatus::usage, "the part of the edges that leave is no part of 1", "it is 0 to 1");
  const BlockModel model(options);
  EdgeRuns edges;
  edges.runs.resize(static_cast<std::size_t>(model.communities()));
  parallel_for(model.communities(),
               [&](std::int64_t c, int) { edges.runs[static_cast<std::size_t>(c)] = model.edges_from(c); });
  return edges;
}

}  // namespace kasen
