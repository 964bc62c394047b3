// The processors and the memory that ranks of one node share.
#pragma once

#include <cstdint>
#include <span>

#include "tools/run/cluster.h"

namespace kasen::tools {

// Called before MPI starts. Where Open MPI puts more ranks on this node than processors that they may use, waiting
// ranks yield theirs.
void yield_where_crowded();

// Threads for this rank: its share of the processors that it may run on (affinity mask) and of its control group's
// time. Other ranks of the node that may run there take as many. The environment may ask for fewer. All ranks call it.
[[nodiscard]] int threads_of_rank(Cluster& cluster);

// Replaces each number by the sum over the node's ranks. All ranks call it.
void sum_on_node(Cluster& cluster, std::span<std::int64_t> numbers);

}  // namespace kasen::tools
