// Who sends how many copies, where copies are not bound to an order (exact.h).
#pragma once

#include <cstdint>
#include <vector>

#include "libopt/spread/plan.h"

namespace kasen::spread {

// A block that nodes beside its maker's have. Its maker's node sends at least one copy; each other copy is sent by any
// of these nodes. Such numbers always are those of a tree.
struct Spreading {
  ObjectId object;
  std::vector<NodeId> nodes;    // the maker's first
  std::vector<NodeId> senders;  // of the copies but one, once for each
};

// Chooses the senders so that the most that a node sends is least. `out` is what nodes send beyond that. Returns that
// most, or `limit` if it cannot be less. Each step takes one of `steps`; where none is left, it returns -1.
[[nodiscard]] Load least_sent(const Graph& graph, const IdMap<NodeId, Load>& out, Load limit, std::int64_t& steps,
                              std::vector<Spreading>& spreadings);

// Writes the copies of a plan's steps, with these senders.
void write_copies(const Graph& graph, const Cluster& cluster, const std::vector<Spreading>& spreadings, Plan& plan);

}  // namespace kasen::spread
