// An objective that no placement beats, whatever its order, its pairs of additions, and the senders of its copies.
#pragma once

#include "libopt/spread/plan.h"

namespace kasen::spread {

// Each part holds by itself: a node's memory, what a node receives, and what it sends are at least these, for some
// node.
struct Bound {
  Load memory = 0, in = 0, out = 0;
  [[nodiscard]] Load objective() const { return memory + in + out; }
};

// What pinned operators read from other workers must move. Beyond that, an operator whose operands lie on different
// nodes, and that alone reads them, moves all but the largest node's. So do terms of a sum, but one from each node is
// enough. What must move in all, and all memory, is spread over the nodes at best.
[[nodiscard]] Bound lower_bound(const Graph& graph, const Cluster& cluster);

}  // namespace kasen::spread
