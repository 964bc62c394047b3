// The search space of plans (Boehm et al., section 4.2): partitions of the memo table, and in each the points at which
// a choice matters.
#pragma once

#include <vector>

#include "libopt/fusion/memo.h"

namespace kasen::fusion {

// A dependency that may be fused or not. If a plan assigns true, entries of `from` that absorb `to` are not used: the
// result of `to` is read from memory.
struct Point {
  NodeId from = no_node, to = no_node;
  bool shared = false;    // `to` has several consumers: a materialization point, one for each of them
  bool switches = false;  // `to` can end in a template in which `from` cannot absorb it
};

// A connected component of references.
struct Partition {
  std::vector<NodeId> nodes;   // ascending, like the lists below
  std::vector<NodeId> roots;   // never referenced
  std::vector<NodeId> inputs;  // in memory before it; its nodes read them
  std::vector<NodeId> shared;  // materialization points: not roots, with several consumers
  std::vector<NodeId> tops;    // always in memory after it: roots, and nodes that anything reads without a reference
  std::vector<Point> points;   // by `to`, then `from`
};

[[nodiscard]] std::vector<Partition> partitions(const Dag& dag, const Memo& memo);

}  // namespace kasen::fusion
