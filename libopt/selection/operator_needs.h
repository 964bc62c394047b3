// The dependences between the operators of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

// Describes operators that another object keeps and may join: `joined` reports it, before the first changes.
class OperatorNeeds {
 public:
  OperatorNeeds(const Dag& dag, std::vector<const PlanOperator*> operators);

  // From now on `into` makes the roots of `from`, too. Neither needs the other.
  void joined(size_t into, size_t from);

  // Returns the first operator that makes this value as its root, or nothing_makes.
  [[nodiscard]] size_t maker(NodeId root) const { return maker_[static_cast<size_t>(root)]; }

  // Returns whether `other` makes, directly or through operators between them, a value or number that `op` reads. For
  // one operator and itself: whether a circle leads through it, which is possible if it has several roots.
  [[nodiscard]] bool needs(size_t op, size_t other) const;

  static constexpr size_t nothing_makes = static_cast<size_t>(-1);

 private:
  using Row = std::vector<std::uint64_t>;  // a bit for each operator; empty: nobody asked yet
  [[nodiscard]] Row needs_of(size_t op) const;

  const Dag& dag_;
  std::vector<const PlanOperator*> operators_;
  std::vector<size_t> maker_;      // by node
  mutable std::vector<Row> rows_;  // by operator: what it needs
};

}  // namespace kasen::fusion
