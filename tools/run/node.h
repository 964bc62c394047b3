// What ranks of one node share: its processors and its memory.
#pragma once

#include <cstdint>
#include <span>

#include "tools/run/cluster.h"

namespace kasen::tools {

// Before MPI starts: where Open MPI puts more ranks on this node than processors that they may use, those that wait
// yield theirs.
void yield_where_crowded();

// Threads for this rank: its share of the processors that it may run on (affinity mask), of which other ranks of the
// node that may run there take as many, and of its control group's time; fewer where the environment asks for fewer.
// All ranks call it.
[[nodiscard]] int threads_of_rank(Cluster& cluster);

// Each number becomes the sum of those of the node's ranks. All ranks call it.
void sum_on_node(Cluster& cluster, std::span<std::int64_t> numbers);

}  // namespace kasen::tools
