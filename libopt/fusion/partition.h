// What plans are enumerated over (Boehm et al., section 4.2): partitions of the memo table, and in each the points at
// which a choice matters.
#pragma once

#include <vector>

#include "libopt/fusion/memo.h"

namespace kasen::fusion {

// A dependency that may be fused or not. Where a plan assigns true, entries of `from` that take up `to` are not used:
// what `to` gives is read from memory.
struct Point {
  NodeId from = no_node, to = no_node;
  bool shared = false;    // `to` has several consumers: a materialization point, one for each of them
  bool switches = false;  // `to` can end in a template that `from` cannot take it up in
};

// A connected component of references.
struct Partition {
  std::vector<NodeId> nodes;   // ascending, as all that follows
  std::vector<NodeId> roots;   // never referenced
  std::vector<NodeId> inputs;  // in memory before it, read by its nodes
  std::vector<NodeId> shared;  // materialization points: no roots, and several consumers
  std::vector<NodeId> tops;    // in memory after it whatever is chosen: roots, what anything reads without a reference
  std::vector<Point> points;   // by `to`, then `from`
};

[[nodiscard]] std::vector<Partition> partitions(const Dag& dag, const Memo& memo);

}  // namespace kasen::fusion
