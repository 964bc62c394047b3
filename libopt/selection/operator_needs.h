// The dependences between the operators of a plan.
#pragma once

#include <cstddef>
#include <vector>

#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

// Describes operators that another object keeps and may change: `remade` reports a change.
class OperatorNeeds {
 public:
  OperatorNeeds(const Dag& dag, std::vector<const PlanOperator*> operators);

  // From now on this operator makes its roots.
  void remade(size_t op);

  // Returns the first operator that makes this value as its root, or nothing_makes.
  [[nodiscard]] size_t maker(NodeId root) const { return maker_[static_cast<size_t>(root)]; }

  // Returns whether `other` makes, directly or through operators between them, a value or number that `op` reads. For
  // one operator and itself: whether a circle leads through it, which is possible if it has several roots.
  [[nodiscard]] bool needs(size_t op, size_t other) const;

  static constexpr size_t nothing_makes = static_cast<size_t>(-1);

 private:
  const Dag& dag_;
  std::vector<const PlanOperator*> operators_;
  std::vector<size_t> maker_;  // by node
};

}  // namespace kasen::fusion
