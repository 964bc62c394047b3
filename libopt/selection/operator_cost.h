// What one operator of a plan takes, fused or not (Boehm et al., section 4.3, the terms of equation 4).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "libopt/fusion/templates.h"
#include "libopt/time/machine.h"

namespace kasen::fusion {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

// The machine, and what no plan may break: what breaks it costs infinitely much (section 4.4).
struct CostRules {
  MachineProfile machine;
  double processes = 1;        // share bytes among them; the seconds of a node are shared already
  double memory = unlimited;   // bytes of inputs and result of a fused operator on one process
  double local = unlimited;    // bytes of inputs up to which an operator runs in one process alone
  double columns = unlimited;  // of a main input whose whole rows a distributed operator needs (the block size)
};

// The cost vector: each node computed inside once, each input read once.
struct PlanOperator {
  std::vector<NodeId> roots;       // its results; several for templates that join
  std::optional<TemplateId> type;  // nothing: a single operator as it is
  std::vector<NodeId> members, inputs;
};

// Writes + max(reads, computing), and what a loop takes to start; infinite where a constraint is broken. Of a template
// that exploits a sparse driver, dense cells of the driver's shape count where the driver is stored.
[[nodiscard]] double seconds(const Dag& dag, const PlanOperator& op, const CostRules& rules);

[[nodiscard]] inline double transfer_seconds(double bytes, const CostRules& rules) {
  return bytes / (rules.processes * rules.machine.memory_bandwidth);
}

}  // namespace kasen::fusion
