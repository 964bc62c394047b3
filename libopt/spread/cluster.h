// The cluster that placements are planned for: nodes with workers, and what traffic weighs in a node (Elibol et al.,
// "NumS: Scalable Array Programming for the Cloud", section 5.1).
#pragma once

#include <cstdint>

#include "libcore/base/id.h"

namespace kasen::spread {

using NodeId = Id<struct NodeTag>;
using WorkerId = Id<struct WorkerTag>;  // those of a node stand together: node 0 has the first ones

// Loads are in thousandths of an element, so that weighted traffic stays a whole number, and sums do not depend on
// their order.
using Load = std::int64_t;
inline constexpr Load element_load = 1000;

inline constexpr int most_workers = 4096;

struct Cluster {
  int nodes = 1;
  int workers = 1;      // of each node
  int intra = 100;      // what an element weighs that moves from worker to worker in a node, in thousandths
  bool shared = false;  // workers of a node share their memory: nothing moves in it, and no copy takes memory

  [[nodiscard]] int size() const { return nodes * workers; }
  [[nodiscard]] NodeId node_of(WorkerId worker) const { return NodeId(worker / workers); }
  [[nodiscard]] WorkerId first_of(NodeId node) const { return WorkerId(node * workers); }
};

// Throws UserError(usage) for a cluster that none can be, UserError(limit) for one with too many workers.
void require_cluster(const Cluster& cluster);

}  // namespace kasen::spread
