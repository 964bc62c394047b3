// The least objective of any placement, for small graphs: branch and bound over the workers of all operators and the
// pairs of all additions. Here copies are not bound to an order: a block may be sent ahead, and any node that gets it
// may send it on. So no rule about senders leads to less. A node gets a block from other nodes once.
#pragma once

#include "libopt/spread/search.h"

namespace kasen::spread {

inline constexpr std::int64_t most_exact_operators = 64;
inline constexpr int most_exact_workers = 64;

[[nodiscard]] bool is_small(const Graph& graph, const Cluster& cluster);

// Begins with the best plan of the other searches. When the tree has more nodes than the options allow, the bound is
// that of what was not looked at. Throws UserError(limit) if the graph or the cluster is too large.
[[nodiscard]] Proven exact(const Graph& graph, const Cluster& cluster, const SearchOptions& options);

}  // namespace kasen::spread
