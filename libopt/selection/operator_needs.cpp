#include "libopt/selection/operator_needs.h"

#include <utility>

namespace kasen::fusion {

OperatorNeeds::OperatorNeeds(const Dag& dag, std::vector<const PlanOperator*> operators)
    : dag_(dag), operators_(std::move(operators)), maker_(dag.size(), nothing_makes) {
  for (size_t op = operators_.size(); op-- > 0;) remade(op);
}

void OperatorNeeds::remade(size_t op) {
  for (const NodeId root : operators_[op]->roots) maker_[static_cast<size_t>(root)] = op;
}

bool OperatorNeeds::needs(size_t op, size_t other) const {
  std::vector<char> seen(dag_.size(), 0);
  std::vector<NodeId> waiting;
  const auto ask = [&](const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      if (std::exchange(seen[static_cast<size_t>(id)], 1) == 0) waiting.push_back(id);
    }
  };
  const auto ask_for = [&](const PlanOperator& made) {
    ask(made.inputs);
    for (const NodeId member : made.members) ask(dag_[member].waits);
  };
  ask_for(*operators_[op]);
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const size_t made = maker(id);
    if (made == other) return true;
    if (made == op) continue;
    if (made != nothing_makes) {
      ask_for(*operators_[made]);
    } else {
      ask(dag_[id].inputs);
      ask(dag_[id].waits);
    }
  }
  return false;
}

}  // namespace kasen::fusion
