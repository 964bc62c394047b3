#include "libopt/selection/operator_cost.h"

#include <algorithm>
#include <set>

namespace kasen::fusion {
namespace {

NodeId largest_input(const Dag& dag, const PlanOperator& op) {
  NodeId largest = no_node;
  for (const NodeId in : op.inputs) {
    if (largest == no_node || dag[in].shape.cells() > dag[largest].shape.cells()) largest = in;
  }
  return largest;
}

// Returns the sparse input with the most cells, if the template works only on its nonzeros.
NodeId driver(const Dag& dag, const PlanOperator& op) {
  if (!op.type || !row(*op.type).exploits) return no_node;
  NodeId found = no_node;
  for (const NodeId in : op.inputs) {
    if (dag[in].sparsity >= 1) continue;
    if (found == no_node || dag[in].shape.cells() > dag[found].shape.cells()) found = in;
  }
  return found;
}

// Returns the share of a node's dense cells that are evaluated.
double share(const Dag& dag, NodeId id, NodeId driven_by) {
  if (driven_by == no_node || dag[id].sparsity < 1 || dag[id].shape != dag[driven_by].shape) return 1;
  return dag[driven_by].sparsity;
}

// Each process gets all inputs but the largest of a distributed operator over the network.
Step step_of(const Dag& dag, const PlanOperator& op, const CostRules& rules) {
  const NodeId sparse = driver(dag, op), main = largest_input(dag, op);
  Step step{.starts = 1};
  for (const NodeId root : op.roots) step.written += dag[root].bytes * share(dag, root, sparse);
  for (const NodeId in : op.inputs) {
    const double bytes = dag[in].bytes * share(dag, in, sparse);
    step.read += bytes;
    if (in != main) step.sent += bytes * rules.processes;
  }
  if (step.read <= rules.local) step.sent = 0;
  for (const NodeId id : op.members) {
    step.compute += dag[id].seconds * share(dag, id, sparse);
    if (op.type == TemplateId::row) step.compute += dag[id].in_rows;
  }
  return step;
}

// Constraints apply to fused operators only: an operator by itself runs without them.
bool is_broken(const Dag& dag, const PlanOperator& op, const Step& step, const CostRules& rules) {
  if (!op.type || op.members.size() < 2) return false;
  const bool distributed = step.read > rules.local;
  const double held = (step.read + step.written) / (distributed ? rules.processes : 1);
  if (held > rules.memory) return true;
  const NodeId main = largest_input(dag, op);
  return row(*op.type).whole_rows && distributed && main != no_node && dag[main].shape.cols.size > rules.columns;
}

}  // namespace

std::vector<NodeId> inputs_of(const Dag& dag, const std::vector<NodeId>& members) {
  std::set<NodeId> inputs;
  for (const NodeId id : members) {
    for (const NodeId in : dag[id].inputs) {
      if (!std::binary_search(members.begin(), members.end(), in)) inputs.insert(dag.stored(in));
    }
  }
  return {inputs.begin(), inputs.end()};
}

double seconds(const Dag& dag, const PlanOperator& op, const CostRules& rules) {
  const Step step = step_of(dag, op, rules);
  if (is_broken(dag, op, step, rules)) return unlimited;
  return step_time(step, {rules.machine, rules.processes}).sum();
}

}  // namespace kasen::fusion
