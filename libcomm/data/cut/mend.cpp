// CutState::mend: moves vertices to bring a cut below its limits.
#include <algorithm>
#include <utility>

#include "libcomm/data/cut/state.h"

namespace kasen {

double CutState::excess(std::size_t which, std::int32_t part, std::int64_t more) const {
  const std::int64_t over = load(which, part) + more - limit_[which];
  return over > 0 ? static_cast<double>(over) / static_cast<double>(std::max<std::int64_t>(1, limit_[which])) : 0;
}

// The decrease of both parts' excess over their limits if the vertex moves.
double CutState::relief(std::int64_t v, std::int32_t to) const {
  const std::int32_t from = owner_[static_cast<std::size_t>(v)];
  double relief = 0;
  for (std::size_t c = 0; c < model_.loads(); ++c) {
    const std::int64_t weight = model_.weight(c, v);
    if (weight > 0) relief += excess(c, from, 0) - excess(c, from, -weight) + excess(c, to, 0) - excess(c, to, weight);
  }
  return relief;
}

// The cheapest of the parts that the vertex's nets touch, else the least full part.
std::int32_t CutState::way_out(std::int64_t v) {
  constexpr double least = 1e-12;  // more than the effect of rounding
  count_neighbours(v);
  std::int32_t best = -1;
  std::uint32_t most = 0;
  for (const std::int32_t p : seen_) {
    const std::uint32_t near = near_[static_cast<std::size_t>(p)];
    if (near < most || (near == most && best >= 0 && p > best) || relief(v, p) < least) continue;
    best = p;
    most = near;
  }
  double lowest = 0;
  for (std::int32_t p = 0; most == 0 && p < parts_; ++p) {
    if (p == owner_[static_cast<std::size_t>(v)] || relief(v, p) < least) continue;
    const double full = fullness(p);
    if (best >= 0 && full >= lowest) continue;
    best = p;
    lowest = full;
  }
  return best;
}

bool CutState::unload(const std::vector<std::int32_t>& members, std::int32_t part, std::size_t which) {
  struct Candidate {
    double cost = 0;
    std::int64_t v = 0;
  };
  std::vector<Candidate> candidates;
  for (const std::int32_t v : members) {
    const std::uint32_t weight = model_.weight(which, v);
    if (owner_[static_cast<std::size_t>(v)] != part || weight == 0) continue;
    count_neighbours(v);
    std::uint32_t most = 0;
    for (const std::int32_t p : seen_) most = std::max(most, near_[static_cast<std::size_t>(p)]);
    candidates.push_back({static_cast<double>(counted_ - alone_ - most) / weight, v});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return std::pair(a.cost, a.v) < std::pair(b.cost, b.v); });
  bool moved = false;
  for (const auto& [cost, v] : candidates) {
    if (load(which, part) <= limit_[which]) break;
    const std::int32_t to = way_out(v);
    if (to < 0) continue;
    place(v, to);
    moved = true;
  }
  return moved;
}

void CutState::fix() {
  constexpr int rounds = 32;  // relief of one part may put another over a limit, by less
  for (int round = 0; round < rounds && !balanced(); ++round) {
    std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(parts_));
    for (std::int64_t v = 0; v < model_.vertices; ++v)
      members[static_cast<std::size_t>(owner_[static_cast<std::size_t>(v)])].push_back(static_cast<std::int32_t>(v));
    bool moved = false;
    for (std::size_t c = 0; c < model_.loads(); ++c)
      for (std::int32_t p = 0; p < parts_; ++p)
        if (load(c, p) > limit_[c]) moved |= unload(members[static_cast<std::size_t>(p)], p, c);
    if (!moved) return;
  }
}

}  // namespace kasen
