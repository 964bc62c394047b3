#include <algorithm>
#include <iterator>
#include <utility>

#include "libopt/selection/operator_needs.h"
#include "libopt/selection/select.h"

namespace kasen::fusion {
namespace {

using Templates = std::vector<const Template*>;

// Returns the joining templates of which the operator's root has entries, and which can compute the whole operator.
// That is the absorbed nodes, or the root alone (views compute nothing).
Templates joining_templates(const Dag& dag, const Memo& memo, const PlanOperator& op) {
  const auto computes = [&](NodeId id) { return dag[id].form != Form::transpose; };
  const bool alone = std::count_if(op.members.begin(), op.members.end(), computes) == 1;
  Templates found;
  for (const Entry& entry : memo[op.roots[0]]) {
    const Template& shape = row(entry.type);
    const bool takes_all = alone || !op.type || takes(entry.type, *op.type);
    const bool repeated = !found.empty() && found.back() == &shape;
    if (shape.joins(dag, op.roots[0]) && takes_all && !repeated) found.push_back(&shape);
  }
  return found;
}

Templates common(const Templates& a, const Templates& b) {
  Templates both;
  std::copy_if(a.begin(), a.end(), std::back_inserter(both),
               [&](const Template* shape) { return std::find(b.begin(), b.end(), shape) != b.end(); });
  return both;
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
    for (const PlanOperator& op : operators) templates_.push_back(joining_templates(dag, memo, op));
  }

  void run() {
    for (size_t i = 0; i < operators_.size(); ++i) {
      if (sweep(i)) (void)sweep(i);
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
    const Templates both = common(templates_[i], templates_[j]);
    return !both.empty() && run_together(*both[0], operators_[i], operators_[j]) &&
           share_an_input(operators_[i], operators_[j]);
  }

  // One root of each is enough: the others run with it.
  [[nodiscard]] bool run_together(const Template& shape, const PlanOperator& a, const PlanOperator& b) const {
    return std::any_of(a.roots.begin(), a.roots.end(), [&](NodeId first) {
      return std::any_of(b.roots.begin(), b.roots.end(),
                         [&](NodeId second) { return shape.together(dag_, first, second); });
    });
  }

  // Tries all behind it. What joins may let others in that did not join before, as a fold lets in products.
  bool sweep(size_t i) {
    bool joined = false;
    for (size_t j = i + 1; j < operators_.size(); ++j) joined = (may_join(i, j) && try_to_join(i, j)) || joined;
    return joined;
  }

  // Joining leaves an operator without roots behind.
  bool try_to_join(size_t i, size_t j) {
    if (needs_.needs(i, j) || needs_.needs(j, i)) return false;
    PlanOperator &a = operators_[i], &b = operators_[j];
    const Templates shapes = common(templates_[i], templates_[j]);
    PlanOperator both{united(a.roots, b.roots), shapes[0]->id, united(a.members, b.members),
                      united(a.inputs, b.inputs)};
    if (seconds(dag_, both, costs_) >= seconds(dag_, a, costs_) + seconds(dag_, b, costs_)) return false;
    needs_.joined(i, j);
    templates_[i] = shapes;
    templates_[j].clear();
    a = std::move(both);
    b = {};
    return true;
  }

  const Dag& dag_;
  const CostRules& costs_;
  std::vector<PlanOperator>& operators_;
  std::vector<Templates> templates_;  // by operator: the templates by which it may join others
  OperatorNeeds needs_;
};

}  // namespace

void join_operators(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators) {
  Joiner(dag, memo, costs, operators).run();
}

}  // namespace kasen::fusion
