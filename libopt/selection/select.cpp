#include "libopt/selection/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasen::fusion {
namespace {

PlanOperator by_itself(const Dag& dag, NodeId id) { return {{id}, std::nullopt, {id}, inputs_of(dag, {id})}; }

// A view is computed if something other than an operator needs it.
bool runs(const Node& node) { return node.form != Form::read && (node.form != Form::transpose || node.escapes); }

void all_by_themselves(const Dag& dag, const std::vector<NodeId>& nodes, std::vector<PlanOperator>& operators) {
  for (const NodeId id : nodes) {
    if (runs(dag[id])) operators.push_back(by_itself(dag, id));
  }
}

SearchResult chosen(const Dag& dag, const Memo& memo, const Partition& partition, Selector selector,
                    const CostRules& costs, const SearchRules& rules) {
  if (selector == Selector::cost) return cheapest_plan(dag, memo, partition, costs, rules);
  SearchResult made;
  made.plan = selector == Selector::fuse_all ? fuse_all(partition) : fuse_no_redundancy(partition);
  PlanCoster coster(dag, memo, partition, costs);
  made.seconds = coster.cost(made.plan, coster.whole());
  made.evaluated = 1;
  return made;
}

double total(const Dag& dag, const std::vector<PlanOperator>& operators, const CostRules& costs) {
  double sum = 0;
  for (const PlanOperator& op : operators) sum += seconds(dag, op, costs);
  return sum;
}

std::vector<NodeId> without_group(const Dag& dag, const Memo& memo) {
  std::vector<NodeId> nodes;
  for (const NodeId id : dag.ids()) {
    if (memo[id].empty()) nodes.push_back(id);
  }
  return nodes;
}

Selection selection_of(const Dag& dag, const Memo& memo, Selector selector, const CostRules& costs,
                       const SearchRules& rules) {
  Selection made;
  all_by_themselves(dag, without_group(dag, memo), made.operators);
  for (Partition& partition : partitions(dag, memo)) {
    PartitionChoice choice{std::move(partition), {}, 0, 0, true, 0};
    SearchResult found;
    if (selector != Selector::none) found = chosen(dag, memo, choice.partition, selector, costs, rules);
    if (std::isfinite(found.seconds)) {
      PlanCoster coster(dag, memo, choice.partition, costs);
      std::vector<PlanOperator> operators = coster.operators(found.plan, coster.whole());
      std::move(operators.begin(), operators.end(), std::back_inserter(made.operators));
    } else {
      all_by_themselves(dag, choice.partition.nodes, made.operators);
    }
    choice.plan = std::move(found.plan);
    choice.seconds = found.seconds;
    choice.evaluated = found.evaluated;
    choice.exact = found.exact;
    choice.least = found.least;
    made.partitions.push_back(std::move(choice));
  }
  if (selector != Selector::none) join_operators(dag, memo, costs, made.operators);
  std::sort(made.operators.begin(), made.operators.end(),
            [](const PlanOperator& a, const PlanOperator& b) { return a.roots < b.roots; });
  made.seconds = total(dag, made.operators, costs);
  return made;
}

}  // namespace

std::string_view selector_name(Selector selector) {
  constexpr std::array<std::string_view, 4> names{"none", "fuse-all", "fuse-no-redundancy", "cost"};
  return names.at(static_cast<size_t>(selector));
}

std::string cut_text(const PartitionChoice& choice) {
  if (choice.exact) return "";
  return fmt::format("{} of 2^{} plans were costed; the choice takes at most {:.3g} % more than the least",
                     choice.evaluated, choice.partition.points.size(), 100 * (choice.seconds / choice.least - 1));
}

Memo feasible(const Dag& dag, const Memo& memo, const CostRules& costs) {
  Memo kept = memo;
  for (const NodeId id : dag.ids()) {
    double read = 0, columns = 0;
    for (const NodeId in : dag[id].inputs) {
      const Node& node = dag[dag.stored(in)];
      read += node.bytes;
      if (node.shape.is_matrix()) columns = std::max(columns, node.shape.cols.size);
    }
    if (read <= costs.local || columns <= costs.columns) continue;
    std::erase_if(kept[id], [](const Entry& entry) { return row(entry.type).whole_rows; });
  }
  return kept;
}

Selection select(const Dag& dag, const Memo& memo, Selector selector, const CostRules& costs,
                 const SearchRules& rules) {
  const Memo valid = feasible(dag, memo, costs);
  if (selector == Selector::none) return selection_of(dag, valid, selector, costs, rules);
  if (selector != Selector::cost) return selection_of(dag, without_dominated(dag, valid), selector, costs, rules);
  // Aggregates that join later may reverse the order of plans with nearly equal costs.
  Selection best = selection_of(dag, valid, selector, costs, rules);
  for (const Selector heuristic : {Selector::fuse_all, Selector::fuse_no_redundancy}) {
    Selection other = select(dag, memo, heuristic, costs, rules);
    if (other.seconds >= best.seconds) continue;
    for (size_t p = 0; p < other.partitions.size(); ++p) {
      other.partitions[p].evaluated = best.partitions[p].evaluated;
      other.partitions[p].exact = best.partitions[p].exact;
      other.partitions[p].least = best.partitions[p].least;
    }
    best = std::move(other);
  }
  return best;
}

}  // namespace kasen::fusion
