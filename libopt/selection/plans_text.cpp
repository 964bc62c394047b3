#include "libopt/selection/plans_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "libopt/selection/greedy.h"
#include "libopt/selection/pieces.h"

namespace kasen::fusion {
namespace {

std::string numbers_text(const std::vector<NodeId>& ids) {
  std::vector<int> numbers;
  for (const NodeId id : ids) numbers.push_back(shown(id));
  return numbers.empty() ? "none" : fmt::format("{}", fmt::join(numbers, " "));
}

std::string point_text(const Point& point) {
  return fmt::format("{}->{}{}", shown(point.from), shown(point.to), point.switches ? "*" : "");
}

std::string costed_text(const PlansCosted& costed) {
  return fmt::format("{}{}", costed.exact ? "" : "at least ", costed.plans);
}

std::string partition_text(const PartitionView& view) {
  const Partition& partition = view.partition;
  std::vector<std::string> points;
  for (const Point& point : partition.points) points.push_back(point_text(point));
  return fmt::format(
      "  partition of {}: roots {}, inputs {}, materialization points {}\n"
      "    points: {}\n"
      "    plans: 2^{}; evaluated: {}, by cost alone {}, by structure alone {}, without pruning {}\n",
      numbers_text(partition.nodes), numbers_text(partition.roots), numbers_text(partition.inputs),
      numbers_text(partition.shared), points.empty() ? "none" : fmt::format("{}", fmt::join(points, " ")),
      points.size(), costed_text(view.pruned), costed_text(view.by_cost), costed_text(view.by_structure),
      costed_text(view.unpruned));
}

std::string selector_text(const SelectorView& view) {
  std::string text =
      fmt::format("  {}: {:.4g} ms, {} operators\n", view.selector, view.seconds * 1e3, view.operators.size());
  if (view.selector == selector_name(Selector::none)) return text;  // each by itself
  for (const std::string& cut : view.cut) text += fmt::format("    cut: {}\n", cut);
  for (const ChosenOperator& chosen : view.operators)
    text += fmt::format("    {} {}: reads {}, makes {}\n", chosen.kind, numbers_text(chosen.op.members),
                        numbers_text(chosen.op.inputs), numbers_text(chosen.op.roots));
  return text;
}

PartitionView view_partition(const Dag& dag, const Memo& memo, Partition partition, const CostRules& costs) {
  PartitionView view;
  const auto costed = [&](bool by_cost, bool by_structure) {
    const SearchResult found =
        cheapest_plan(dag, memo, partition, costs, {.by_cost = by_cost, .by_structure = by_structure});
    return PlansCosted{found.evaluated, found.exact};
  };
  view.pruned = costed(true, true);
  view.by_cost = costed(true, false);
  view.by_structure = costed(false, true);
  view.unpruned = costed(false, false);
  view.partition = std::move(partition);
  return view;
}

SelectorView view_greedy(const Module& module, const BlockDag& block, const Memo& memo, const CostRules& costs) {
  SelectorView view{"greedy", 0, {}, {}};
  for (Piece& piece : pieces_of(module, block, greedy_operators(module, block, memo), costs).pieces) {
    view.seconds += seconds(block.dag, piece.op, costs);
    view.operators.push_back({piece.kind ? std::string(region_name(*piece.kind)) : "-", std::move(piece.op)});
  }
  return view;
}

SelectorView view_selector(const Dag& dag, const Memo& memo, Selector selector, const CostRules& costs) {
  Selection made = select(dag, memo, selector, costs);
  SelectorView view{std::string(selector_name(selector)), made.seconds, {}, {}};
  for (const PartitionChoice& choice : made.partitions)
    if (!choice.exact) view.cut.push_back(cut_text(choice));
  for (PlanOperator& op : made.operators) {
    std::string kind = op.type ? std::string(1, row(*op.type).letter) : "-";
    view.operators.push_back({std::move(kind), std::move(op)});
  }
  return view;
}

}  // namespace

PlansView view_plans(const Module& module, const BlockDag& block, const Memo& memo, const CostRules& costs) {
  const Dag& dag = block.dag;
  PlansView view;
  const Memo valid = feasible(dag, memo, costs);
  for (Partition& partition : partitions(dag, valid))
    view.partitions.push_back(view_partition(dag, valid, std::move(partition), costs));
  view.selectors.push_back(view_greedy(module, block, memo, costs));
  for (const Selector selector : {Selector::none, Selector::fuse_all, Selector::fuse_no_redundancy, Selector::cost})
    view.selectors.push_back(view_selector(dag, memo, selector, costs));
  return view;
}

std::string plans_text(const PlansView& view) {
  std::string text;
  for (const PartitionView& partition : view.partitions) text += partition_text(partition);
  for (const SelectorView& selector : view.selectors) text += selector_text(selector);
  return text;
}

}  // namespace kasen::fusion
