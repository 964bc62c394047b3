// Which operators of a plan need which.
#pragma once

#include <cstddef>
#include <vector>

#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

// Over operators that somebody else keeps in their places and may change: `remade` says so.
class OperatorNeeds {
 public:
  OperatorNeeds(const Dag& dag, std::vector<const PlanOperator*> operators);

  // The roots of this operator are made by it from now on.
  void remade(size_t op);

  // The first of the operators that makes this value as its root, or nothing_makes.
  [[nodiscard]] size_t maker(NodeId root) const { return maker_[static_cast<size_t>(root)]; }

  // Whether something that `op` reads, or a number that it takes, comes from `other`: by way of whatever operators are
  // between them. Of one operator and itself: whether a circle leads through it, as one can where it has several roots.
  [[nodiscard]] bool needs(size_t op, size_t other) const;

  static constexpr size_t nothing_makes = static_cast<size_t>(-1);

 private:
  const Dag& dag_;
  std::vector<const PlanOperator*> operators_;
  std::vector<size_t> maker_;  // by node
};

}  // namespace kasen::fusion
