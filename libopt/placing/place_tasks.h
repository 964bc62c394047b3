// The tasks of a region of blocks as the graph of block operators that the planner places (libopt/spread), and its plan
// as workers of tasks and orders of sums.
#pragma once

#include <string>
#include <vector>

#include "libcore/blocks/tasks.h"
#include "libopt/placing/form_regions.h"
#include "libopt/spread/graph.h"
#include "libopt/spread/plan.h"

namespace kasen::placing {

struct RegionGraph {
  spread::Graph graph;
  // For each operator of the region but its yield: of each task, and of each sum of several contributions.
  struct OfOp {
    std::vector<spread::VertexId> tasks, sums;
    std::int64_t each = 1;
  };
  std::vector<OfOp> ops;
};

// `module` has sizes and a mesh. A block of an operand, and of a value whose layout outside is known, has the owner of
// most of its elements. The last operator of each block that a region hands on is pinned there.
[[nodiscard]] RegionGraph region_graph(const Module& module, const Op& region, const OutsideTypes& outside);

// Gives each operator of the region its workers and its tree.
void take_plan(const Module& module, Op& region, const RegionGraph& graph, const spread::Plan& plan);

// The planner numbers workers node by node; the mesh does not, if an axis within nodes stands before one that crosses
// them. The planner's number of each worker of the mesh, and the other way round.
struct WorkerNumbers {
  std::vector<int> in_cluster, in_mesh;
};
[[nodiscard]] WorkerNumbers worker_numbers(const Module& module);

// The mesh's workers: places along axes that cross nodes are nodes. Without any, each worker is a node of its own.
[[nodiscard]] spread::Cluster cluster_of(const Module& module);

}  // namespace kasen::placing
