#include <algorithm>
#include <iterator>

#include "libopt/fusion/select.h"

namespace kasen::fusion {
namespace {

// How many full aggregates one after another lead to each node. Those of one depth do not wait for one another, nor do
// groups of them in a circle.
class Depths {
 public:
  explicit Depths(const Dag& dag) : dag_(dag), depths_(static_cast<size_t>(dag.size()), -1) {}

  int of(NodeId node) {
    std::vector<NodeId> waiting{node};
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      int& depth = depths_[static_cast<size_t>(id)];
      int below = 0;
      const size_t before = waiting.size();
      if (depth < 0) {
        visit(dag_[id].inputs, waiting, below);
        visit(dag_[id].waits, waiting, below);
      }
      if (waiting.size() > before) continue;
      if (depth < 0) depth = below + (dag_[id].form == Form::agg_full ? 1 : 0);
      waiting.pop_back();
    }
    return depths_[static_cast<size_t>(node)];
  }

 private:
  void visit(const std::vector<NodeId>& needed, std::vector<NodeId>& waiting, int& below) const {
    for (const NodeId id : needed) {
      const int depth = depths_[static_cast<size_t>(id)];
      if (depth < 0) waiting.push_back(id);
      below = std::max(below, depth);
    }
  }

  const Dag& dag_;
  std::vector<int> depths_;
};

// An operator that one of a template that joins may take up: its root has such an entry, and it computes cells alone.
bool may_join(const Memo& memo, const PlanOperator& op) {
  if (op.type && *op.type != TemplateId::cell && !row(*op.type).joins) return false;
  const Group& group = memo[op.roots[0]];
  return std::any_of(group.begin(), group.end(), [](const Entry& entry) { return row(entry.type).joins; });
}

TemplateId joining_template(const Memo& memo, NodeId root) {
  const Group& group = memo[root];
  return std::find_if(group.begin(), group.end(), [](const Entry& entry) { return row(entry.type).joins; })->type;
}

std::vector<NodeId> united(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  std::vector<NodeId> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

bool share_an_input(const PlanOperator& a, const PlanOperator& b) {
  std::vector<NodeId> both;
  std::set_intersection(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), std::back_inserter(both));
  return !both.empty();
}

PlanOperator joined(const Memo& memo, const PlanOperator& a, const PlanOperator& b) {
  PlanOperator both{united(a.roots, b.roots), joining_template(memo, a.roots[0]), united(a.members, b.members),
                    united(a.inputs, b.inputs)};
  return both;
}

}  // namespace

void join_aggregates(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators) {
  Depths depths(dag);
  const auto shape = [&](const PlanOperator& op) { return dag[dag[op.roots[0]].inputs[0]].shape; };
  for (size_t i = 0; i < operators.size(); ++i) {
    if (!may_join(memo, operators[i])) continue;
    for (size_t j = i + 1; j < operators.size();) {
      const bool fits = may_join(memo, operators[j]) && shape(operators[i]) == shape(operators[j]) &&
                        depths.of(operators[i].roots[0]) == depths.of(operators[j].roots[0]) &&
                        share_an_input(operators[i], operators[j]);
      if (fits) {
        PlanOperator both = joined(memo, operators[i], operators[j]);
        if (seconds(dag, both, costs) < seconds(dag, operators[i], costs) + seconds(dag, operators[j], costs)) {
          operators[i] = std::move(both);
          operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(j));
          continue;
        }
      }
      ++j;
    }
  }
}

}  // namespace kasen::fusion
