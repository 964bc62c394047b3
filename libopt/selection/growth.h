// How the greedy selector collects the units of one operator around a first one.
#pragma once

#include <vector>

#include "libopt/rewrite/dependence.h"

namespace kasen::fusion {

// Returns, in order from `first` on, all units that may join: `joins(unit, reads_member)` says so and notes it. None
// needs a value that waits for a member outside, or one of a member that `passes(member, unit)` denies.
template <class Joins, class Passes>
[[nodiscard]] std::vector<int> grow(const BlockGraph& graph, int first, Joins joins, Passes passes) {
  std::vector<int> members{first};
  const auto count = static_cast<size_t>(graph.size());
  std::vector<char> inside(count, 0), waits(count, 0);
  inside[static_cast<size_t>(first)] = 1;
  for (int unit = first + 1; unit < graph.size(); ++unit) {
    bool blocked = false, reads_member = false;
    for (const int need : graph.needs(unit)) {
      const bool member = inside[static_cast<size_t>(need)] != 0;
      reads_member = reads_member || member;
      blocked = blocked || waits[static_cast<size_t>(need)] != 0 || (member && !passes(need, unit));
    }
    if (!blocked && joins(unit, reads_member)) {
      inside[static_cast<size_t>(unit)] = 1;
      members.push_back(unit);
    } else {
      waits[static_cast<size_t>(unit)] = reads_member || blocked ? 1 : 0;
    }
  }
  return members;
}

}  // namespace kasen::fusion
