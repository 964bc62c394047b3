// A bound on what plans of a problem cost, from below (Boehm et al., section 4.4, cost-based pruning).
#pragma once

#include <vector>

#include "libopt/selection/cut_sets.h"

namespace kasen::fusion {

// Writing the tops, reading what is outside once, computing each node once; and for each distinct target of a true
// point, a write and a read. Reads hide computing in the bound as they do in an operator, the targets' too: the paper
// adds those apart, which is more than such a plan may cost where computing is slower. What a template that exploits
// sparsity may hold or read counts by the smallest share that any array of its shape stores.
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
  double written_ = 0, read_ = 0, seconds_ = 0, loops_ = 0;
  std::vector<char> is_top_;
  std::vector<int> counted_;
  int call_ = 0;
};

}  // namespace kasen::fusion
