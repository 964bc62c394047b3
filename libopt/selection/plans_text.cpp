#include "libopt/selection/plans_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Counts the plans that were costed; "at least" if the budget ended the search.
std::string count_text(const SearchResult& found) {
  return fmt::format("{}{}", found.exact ? "" : "at least ", found.evaluated);
}

std::string partition_text(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& costs) {
  std::vector<std::string> points;
  for (const Point& point : partition.points) points.push_back(point_text(point));
  const auto evaluated = [&](bool by_cost, bool by_structure) {
    return count_text(cheapest_plan(dag, memo, partition, costs, {.by_cost = by_cost, .by_structure = by_structure}));
  };
  return fmt::format(
      "  partition of {}: roots {}, inputs {}, materialization points {}\n"
      "    points: {}\n"
      "    plans: 2^{}; evaluated: {}, by cost alone {}, by structure alone {}, without pruning {}\n",
      numbers_text(partition.nodes), numbers_text(partition.roots), numbers_text(partition.inputs),
      numbers_text(partition.shared), points.empty() ? "none" : fmt::format("{}", fmt::join(points, " ")),
      points.size(), evaluated(true, true), evaluated(true, false), evaluated(false, true), evaluated(false, false));
}

std::string operator_text(std::string_view kind, const PlanOperator& op) {
  return fmt::format("    {} {}: reads {}, makes {}\n", kind, numbers_text(op.members), numbers_text(op.inputs),
                     numbers_text(op.roots));
}

std::string cost_text(std::string_view selector, double sum, size_t operators) {
  return fmt::format("  {}: {:.4g} ms, {} operators\n", selector, sum * 1e3, operators);
}

std::string greedy_text(const Module& module, const BlockDag& block, const Memo& memo, const CostRules& costs) {
  double sum = 0;
  std::string text;
  const std::vector<Piece> pieces = pieces_of(module, block, greedy_operators(module, block, memo), costs).pieces;
  for (const Piece& piece : pieces) {
    sum += seconds(block.dag, piece.op, costs);
    text += operator_text(piece.kind ? region_name(*piece.kind) : "-", piece.op);
  }
  return cost_text("greedy", sum, pieces.size()) + text;
}

}  // namespace

std::string plans_text(const Module& module, const BlockDag& block, const Memo& memo, const CostRules& costs) {
  const Dag& dag = block.dag;
  std::string text;
  const Memo valid = feasible(dag, memo, costs);
  for (const Partition& partition : partitions(dag, valid)) text += partition_text(dag, valid, partition, costs);
  text += greedy_text(module, block, memo, costs);
  for (const Selector selector : {Selector::none, Selector::fuse_all, Selector::fuse_no_redundancy, Selector::cost}) {
    const Selection made = select(dag, memo, selector, costs);
    text += cost_text(selector_name(selector), made.seconds, made.operators.size());
    if (selector == Selector::none) continue;
    for (const PartitionChoice& choice : made.partitions) {
      if (!choice.exact) text += fmt::format("    cut: {}\n", cut_text(choice));
    }
    for (const PlanOperator& op : made.operators) {
      text += operator_text(op.type ? std::string_view(&row(*op.type).letter, 1) : "-", op);
    }
  }
  return text;
}

}  // namespace kasen::fusion
