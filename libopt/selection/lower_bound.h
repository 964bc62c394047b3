// A lower bound on the cost of a problem's plans (Boehm et al., section 4.4, cost-based pruning).
#pragma once

#include <vector>

#include "libopt/selection/cut_sets.h"

namespace kasen::fusion {

// The bound writes the tops, reads values from outside once, and computes each node once. For each distinct target of a
// true point it adds a write and a read. Reads, those of targets too, hide computing as they do in an operator. The
// paper adds these apart, which may exceed the cost of such a plan if computing is slower. Nodes that a template which
// exploits sparsity may hold or read count by the smallest share that any array of their shape stores.
class LowerBound {
 public:
  LowerBound(const Dag& dag, const Memo& memo, const Partition& partition, const Scope& scope, const CostRules& rules);

  [[nodiscard]] double operator()(const Assignment& plan, const Points& points);

 private:
  [[nodiscard]] double bytes(NodeId id) const;

  const Dag& dag_;
  const Partition& partition_;
  const CostRules& rules_;
  std::vector<double> share_;  // by node
  Step least_;                 // all of the problem as one step, with all points false
  std::vector<char> is_top_;
  std::vector<int> counted_;
  int call_ = 0;
};

}  // namespace kasen::fusion
