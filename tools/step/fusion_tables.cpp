#include "tools/step/fusion_tables.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "libcore/json/report.h"
#include "libopt/fusion/explore.h"
#include "libopt/fusion/from_module.h"
#include "libopt/fusion/memo.h"
#include "libopt/optimize/optimize.h"
#include "libopt/optimize/strategies.h"
#include "libopt/selection/plans_text.h"
#include "libopt/time/price.h"

namespace kasen::tools {
namespace {

Json numbers_json(const std::vector<fusion::NodeId>& ids) {
  Json json = Json::array();
  for (const fusion::NodeId id : ids) json.push_back(shown(id));
  return json;
}

Json entry_json(const fusion::Entry& entry) {
  Json absorbed = Json::array();
  for (const fusion::NodeId ref : entry.refs) absorbed.push_back(ref == fusion::no_node ? Json() : Json(shown(ref)));
  return {{"template", row(entry.type).name},
          {"absorbs", std::move(absorbed)},
          {"may_end", is_valid(entry.close)},
          {"closed", is_closed(entry.close)}};
}

// The last operator first, as in the text.
Json groups_json(const fusion::Dag& dag, const fusion::Memo& memo) {
  Json json = Json::array();
  for (fusion::NodeId id(dag.size() - 1); id >= 0; --id) {
    const fusion::Node& node = dag[id];
    if (node.form == fusion::Form::read) continue;
    Json entries = Json::array();
    for (const fusion::Entry& entry : memo[id]) entries.push_back(entry_json(entry));
    json.push_back({{"number", shown(id)},
                    {"operator", node.op},
                    {"value", node.name.empty() ? Json() : Json(node.name)},
                    {"operands", numbers_json(node.inputs)},
                    {"entries", std::move(entries)}});
  }
  return json;
}

Json inputs_json(const fusion::Dag& dag) {
  Json json = Json::array();
  for (const fusion::NodeId id : dag.ids())
    if (dag[id].form == fusion::Form::read) json.push_back({{"number", shown(id)}, {"value", dag[id].name}});
  return json;
}

Json costed_json(const fusion::PlansCosted& costed) { return {{"plans", costed.plans}, {"exact", costed.exact}}; }

Json partition_json(const fusion::PartitionView& view) {
  const fusion::Partition& partition = view.partition;
  Json points = Json::array();
  for (const fusion::Point& point : partition.points)
    points.push_back({{"from", shown(point.from)}, {"to", shown(point.to)}, {"switches", point.switches}});
  return {{"operators", numbers_json(partition.nodes)},
          {"roots", numbers_json(partition.roots)},
          {"inputs", numbers_json(partition.inputs)},
          {"materialization_points", numbers_json(partition.shared)},
          {"points", std::move(points)},
          {"evaluated",
           {{"pruned", costed_json(view.pruned)},
            {"by_cost", costed_json(view.by_cost)},
            {"by_structure", costed_json(view.by_structure)},
            {"unpruned", costed_json(view.unpruned)}}}};
}

Json selector_json(const fusion::SelectorView& view) {
  Json operators = Json::array();
  for (const fusion::ChosenOperator& chosen : view.operators)
    operators.push_back({{"fused", chosen.kind == "-" ? Json() : Json(chosen.kind)},
                         {"operators", numbers_json(chosen.op.members)},
                         {"reads", numbers_json(chosen.op.inputs)},
                         {"makes", numbers_json(chosen.op.roots)}});
  return {{"strategy", view.selector},
          {"seconds", real_json(view.seconds)},
          {"operators", std::move(operators)},
          {"cut", view.cut}};
}

Json plans_json(const fusion::PlansView& view) {
  Json partitions = Json::array(), selections = Json::array();
  for (const fusion::PartitionView& partition : view.partitions) partitions.push_back(partition_json(partition));
  for (const fusion::SelectorView& selector : view.selectors) selections.push_back(selector_json(selector));
  return {{"partitions", std::move(partitions)}, {"selections", std::move(selections)}};
}

Json strategies_json(const StrategyChoice& choice) {
  Json prices = Json::array();
  for (const StrategyPrice& priced : choice.prices)
    prices.push_back(
        {{"strategy", strategy_name(priced.strategy)}, {"seconds", real_json(priced.price.actual.seconds)}});
  return {{"prices", std::move(prices)},
          {"chosen", strategy_name(choice.chosen)},
          {"runner_up", strategy_name(runner_up(choice))},
          {"regret_of_greedy", real_json(regret_of_greedy(choice))}};
}

// Both forms grow block by block.
struct Tables {
  bool plans = false, json = false;
  std::string text;
  Json blocks = Json::array();

  void add(const Module& placed, const fusion::BlockDag& block, const fusion::CostRules& costs) {
    const fusion::Memo memo = fusion::explore(block.dag);
    const fusion::PlansView view = plans ? fusion::view_plans(placed, block, memo, costs) : fusion::PlansView{};
    if (!json) {
      text += fmt::format("{}: {} groups, {} entries\n", block.title, memo.group_count(), memo.entry_count());
      text += plans ? fusion::plans_text(view) : fusion::memo_text(block.dag, memo);
      return;
    }
    Json made{{"block", block.title}, {"groups", memo.group_count()}, {"entries", memo.entry_count()}};
    made["inputs"] = inputs_json(block.dag);
    made["operators"] = groups_json(block.dag, memo);
    if (plans) made.update(plans_json(view));
    blocks.push_back(std::move(made));
  }
};

}  // namespace

std::string fusion_tables(const Module& module, LawChecker& laws, const OptimizeOptions& options, bool plans, bool json,
                          PlanNotes& notes) {
  const Module placed = before_fusing(module, laws, options);
  Pricing pricing(options.sizes, options.machine);
  const TimeCase in = pricing.time_case(placed);
  Tables tables{.plans = plans, .json = json};
  bool any = false;
  for (const fusion::BlockDag& block : fusion::fusion_dags(placed, in)) {
    tables.add(placed, block, {.machine = in.machine, .processes = in.processes});
    any = true;
  }
  notes.assume(pricing.defaults());
  std::optional<StrategyChoice> weighed;
  if (plans && any) weighed = weigh_strategies(module, laws, options);
  if (json) {
    Json report = new_report(plans ? "plans" : "memo");
    report["program"] = module.name;
    report["defaults"] = notes.defaults;
    report["blocks"] = std::move(tables.blocks);
    if (plans) report["strategies"] = weighed ? strategies_json(*weighed) : Json();
    return report_document(report);
  }
  if (!any) return "no operator that a template covers\n";
  if (weighed) tables.text += "strategies, the whole plan's predicted time:\n" + strategies_text(*weighed);
  return tables.text;
}

}  // namespace kasen::tools
