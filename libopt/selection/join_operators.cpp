#include <algorithm>
#include <iterator>
#include <utility>

#include "libopt/selection/operator_needs.h"
#include "libopt/selection/select.h"

namespace kasen::fusion {
namespace {

// Returns the entry of a joining template, if the operator's root has one and the template can compute the whole
// operator. That is the absorbed nodes, or the root alone (views compute nothing).
const Template* joining_template(const Dag& dag, const Memo& memo, const PlanOperator& op) {
  const auto computes = [&](NodeId id) { return dag[id].form != Form::transpose; };
  const bool alone = std::count_if(op.members.begin(), op.members.end(), computes) == 1;
  for (const Entry& entry : memo[op.roots[0]]) {
    if (row(entry.type).joins() && (alone || !op.type || takes(entry.type, *op.type))) return &row(entry.type);
  }
  return nullptr;
}

bool share_an_input(const PlanOperator& a, const PlanOperator& b) {
  std::vector<NodeId> both;
  std::set_intersection(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), std::back_inserter(both));
  return !both.empty();
}

std::vector<NodeId> united(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  std::vector<NodeId> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

class Joiner {
 public:
  Joiner(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators)
      : dag_(dag), costs_(costs), operators_(operators), needs_(dag, places_of(operators)) {
    for (const PlanOperator& op : operators) templates_.push_back(joining_template(dag, memo, op));
  }

  void run() {
    for (size_t i = 0; i < operators_.size(); ++i) {
      for (size_t j = i + 1; j < operators_.size(); ++j) {
        if (may_join(i, j)) try_to_join(i, j);
      }
    }
    std::erase_if(operators_, [](const PlanOperator& op) { return op.roots.empty(); });
  }

 private:
  static std::vector<const PlanOperator*> places_of(const std::vector<PlanOperator>& operators) {
    std::vector<const PlanOperator*> places;
    for (const PlanOperator& op : operators) places.push_back(&op);
    return places;
  }

  [[nodiscard]] bool may_join(size_t i, size_t j) const {
    const Template* shape = templates_[i];
    return shape != nullptr && shape == templates_[j] &&
           shape->together(dag_, operators_[i].roots[0], operators_[j].roots[0]) &&
           share_an_input(operators_[i], operators_[j]);
  }

  // Joining leaves an operator without roots behind.
  void try_to_join(size_t i, size_t j) {
    PlanOperator &a = operators_[i], &b = operators_[j];
    PlanOperator both{united(a.roots, b.roots), templates_[i]->id, united(a.members, b.members),
                      united(a.inputs, b.inputs)};
    if (seconds(dag_, both, costs_) >= seconds(dag_, a, costs_) + seconds(dag_, b, costs_)) return;
    if (needs_.needs(i, j) || needs_.needs(j, i)) return;
    templates_[j] = nullptr;
    a = std::move(both);
    b = {};
    needs_.remade(i);
  }

  const Dag& dag_;
  const CostRules& costs_;
  std::vector<PlanOperator>& operators_;
  std::vector<const Template*> templates_;  // by operator: the template by which it may join others
  OperatorNeeds needs_;
};

}  // namespace

void join_operators(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators) {
  Joiner(dag, memo, costs, operators).run();
}

}  // namespace kasen::fusion
