// The cost of one operator of a plan, fused or not (Boehm et al., section 4.3, the terms of equation 4).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "libopt/fusion/templates.h"
#include "libopt/time/step.h"

namespace kasen::fusion {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

// The machine, and the limits that no plan may exceed: a plan beyond them costs infinitely much (section 4.4).
struct CostRules {
  MachineProfile machine;
  double processes = 1;        // bytes are shared among them; the seconds of a node already are
  double memory = unlimited;   // bytes of inputs and result of a fused operator on one process
  double local = unlimited;    // bytes of inputs up to which an operator runs in one process
  double columns = unlimited;  // of a main input whose whole rows a distributed operator needs (the block size)
};

// The cost vector: each node inside is computed once, and each input is read once.
struct PlanOperator {
  std::vector<NodeId> roots;       // its results; several for templates that join
  std::optional<TemplateId> type;  // nothing: a single operator as it is
  std::vector<NodeId> members, inputs;
};

// Returns what operators of these nodes (ascending) read from memory, ascending.
[[nodiscard]] std::vector<NodeId> inputs_of(const Dag& dag, const std::vector<NodeId>& members);

// Returns the time of one step (step.h) with one loop, or infinity if a constraint is broken. If a template exploits a
// sparse driver, dense cells of the driver's shape count where the driver is stored.
[[nodiscard]] double seconds(const Dag& dag, const PlanOperator& op, const CostRules& rules);

}  // namespace kasen::fusion
