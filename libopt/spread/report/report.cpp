#include "libopt/spread/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "libcore/json/report.h"
#include "libopt/spread/bound.h"
#include "libopt/spread/exact.h"
#include "libopt/text/report_parts.h"

namespace kasen::spread {
namespace {

using Rows = std::vector<std::vector<std::string>>;

double elements(Load load) { return static_cast<double>(load) / static_cast<double>(element_load); }
std::string elements_text(Load load) { return grouped((load + element_load / 2) / element_load); }

Load best_objective(const Comparison& comparison) {
  Load best = comparison.found.front().objective;
  for (const Proven& one : comparison.found) best = std::min(best, one.objective);
  return best;
}

// The best of those that were proven, which no other one beats.
Load bound_of(const Comparison& comparison) {
  Load bound = 0;
  for (const Proven& one : comparison.found) bound = std::max(bound, one.bound);
  return bound;
}

double ratio(Load a, Load b) { return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : a > 0 ? HUGE_VAL : 1; }

std::string bytes(const Comparison& comparison, std::int64_t moved) {
  return short_bytes(static_cast<double>(moved) * static_cast<double>(comparison.element_bytes));
}

std::string proof(const Proven& one) {
  if (one.is_certified()) return fmt::format("least, proven in {} nodes", grouped(one.nodes));
  return fmt::format("bound {}, gap {:.1f} %, {} nodes", elements_text(one.bound),
                     100 * (ratio(one.objective, one.bound) - 1), grouped(one.nodes));
}

Json node_json(const NodeLoad& node) {
  return {{"memory", elements(node.memory)}, {"in", elements(node.in)}, {"out", elements(node.out)}};
}

Json curve_json(const Comparison& comparison, const Plan& plan) {
  Json all = Json::array();
  for (const Point& point : curve(*comparison.graph, comparison.cluster, plan, comparison.most_points)) {
    Json one{{"steps", point.steps}, {"nodes", Json::array()}};
    for (const NodeLoad& node : point.loads.nodes) one["nodes"].push_back(node_json(node));
    all.push_back(std::move(one));
  }
  return all;
}

std::string object_name(const Graph& graph, const Plan& plan, ObjectId id, const std::vector<std::size_t>& maker) {
  const auto object = static_cast<std::size_t>(int{id});
  if (object < graph.objects().size()) return graph.objects()[id].name;
  const Step& step = plan.steps[maker[object - graph.objects().size()]];
  return fmt::format("{}+{}", graph.objects()[graph.vertices()[step.vertex].output].name,
                     object - graph.objects().size());
}

// An operator a row: what it makes, where, which operands of an addition, and which copies come before it.
Json steps_json(const Graph& graph, const Plan& plan) {
  std::vector<std::size_t> maker(graph.objects_and_partials() - graph.objects().size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto made = static_cast<std::size_t>(int{plan.steps[s].result});
    if (made >= graph.objects().size()) maker[made - graph.objects().size()] = s;
  }
  const auto name = [&](ObjectId id) { return object_name(graph, plan, id, maker); };
  Json all = Json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    Json one{{"makes", name(step.result)}, {"elements", graph.elements(step.result)}, {"on", int{step.worker}}};
    if (step.left >= 0) one["adds"] = {name(step.left), name(step.right)};
    for (const Copy& copy : plan.copies_of(s))
      one["copies"].push_back({{"block", name(copy.object)}, {"from", int{copy.from}}});
    all.push_back(std::move(one));
  }
  return all;
}

// The blocks that are there in the beginning.
Json blocks_json(const Graph& graph) {
  Json all = Json::array();
  for (const Object& object : graph.objects())
    if (object.home >= 0)
      all.push_back({{"block", object.name}, {"elements", object.elements}, {"on", int{object.home}}});
  return all;
}

Json found_json(const Comparison& comparison, std::size_t at) {
  const Proven& one = comparison.found[at];
  const Loads loads = loads_of(*comparison.graph, comparison.cluster, one.plan);
  Json json{{"search", one.plan.search},
            {"objective", elements(one.objective)},
            {"memory", elements(loads.memory())},
            {"in", elements(loads.in())},
            {"out", elements(loads.out())},
            {"elements_between_nodes", loads.between},
            {"elements_in_nodes", loads.within},
            {"regret", regret(comparison, at)},
            {"over_bound", over_bound(comparison, at)}};
  if (one.nodes > 0) {
    json["bound"] = elements(one.bound);
    json["certified"] = one.is_certified();
  }
  json["steps"] = steps_json(*comparison.graph, one.plan);
  json["curve"] = curve_json(comparison, one.plan);
  return json;
}

}  // namespace

double regret(const Comparison& comparison, std::size_t found) {
  return ratio(comparison.found[found].objective, best_objective(comparison));
}

double over_bound(const Comparison& comparison, std::size_t found) {
  return ratio(comparison.found[found].objective, bound_of(comparison));
}

std::vector<Point> curve(const Graph& graph, const Cluster& cluster, const Plan& plan, std::size_t most) {
  const std::size_t steps = plan.steps.size(), points = std::max<std::size_t>(1, std::min(most, steps));
  Loads loads = first_loads(graph, cluster);
  std::vector<Point> all{{0, loads}};
  for (std::size_t s = 0; s < steps; ++s) {
    add_step(graph, cluster, plan, s, loads);
    // The last step of each of so many equal parts.
    if ((s + 1) * points / steps > s * points / steps) all.push_back({s + 1, loads});
  }
  return all;
}

Comparison compare(std::string title, const Graph& graph, const Cluster& cluster,
                   const std::vector<std::string>& searches, const SearchOptions& options) {
  std::vector<std::string> names;
  for (const std::string& search : searches) {
    if (search != "all") {
      require_search(search);
      names.push_back(search);
      continue;
    }
    for (const std::string& known : search_names())
      if (known != "exact" || is_small(graph, cluster)) names.push_back(known);
  }
  Comparison comparison{std::move(title), &graph, cluster, 8, {}, 200};
  for (const std::string& name : names) comparison.found.push_back(find_placement(name, graph, cluster, options));
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  const Graph& graph = *comparison.graph;
  const Cluster& cluster = comparison.cluster;
  std::string text =
      fmt::format("{}: {} blocks and {} block operators on {} nodes of {} workers\n", comparison.title,
                  grouped(std::ssize(graph.objects())), grouped(graph.operators()), cluster.nodes, cluster.workers);
  text += cluster.shared ? "workers of a node share their memory; loads in elements\n\n"
                         : fmt::format("traffic in a node weighs {:g}; loads in elements, of the node with most\n\n",
                                       elements(cluster.intra));
  Rows rows{{"search", "objective", "memory", "in", "out", "between nodes", "in nodes", "regret", "over bound"}};
  for (std::size_t i = 0; i < comparison.found.size(); ++i) {
    const Proven& one = comparison.found[i];
    const Loads loads = loads_of(graph, cluster, one.plan);
    rows.push_back({one.plan.search, elements_text(one.objective), elements_text(loads.memory()),
                    elements_text(loads.in()), elements_text(loads.out()), bytes(comparison, loads.between),
                    bytes(comparison, loads.within), fmt::format("{:.3f}", regret(comparison, i)),
                    fmt::format("{:.3f}", over_bound(comparison, i))});
    if (one.nodes > 0) rows.back().push_back(proof(one));
  }
  const Bound bound = lower_bound(graph, cluster);
  rows.push_back({"bound", elements_text(bound.objective()), elements_text(bound.memory), elements_text(bound.in),
                  elements_text(bound.out)});
  return text + table_text(rows);
}

std::string comparison_json(const Comparison& comparison) {
  const Cluster& cluster = comparison.cluster;
  const Bound bound = lower_bound(*comparison.graph, cluster);
  Json json = new_report("placements");
  json.update({{"title", comparison.title},
               {"nodes", cluster.nodes},
               {"workers", cluster.workers},
               {"intra", elements(cluster.intra)},
               {"shared", cluster.shared},
               {"element_bytes", comparison.element_bytes},
               {"operators", comparison.graph->operators()},
               {"blocks", blocks_json(*comparison.graph)}});
  json["bound"] = {{"objective", elements(bound.objective())},
                   {"memory", elements(bound.memory)},
                   {"in", elements(bound.in)},
                   {"out", elements(bound.out)}};
  json["placements"] = Json::array();
  for (std::size_t i = 0; i < comparison.found.size(); ++i) json["placements"].push_back(found_json(comparison, i));
  return report_document(json, 1);
}

std::string curves_csv(const Comparison& comparison) {
  std::string text = "search,steps,node,memory,in,out\n";
  for (const Proven& one : comparison.found) {
    for (const Point& point : curve(*comparison.graph, comparison.cluster, one.plan, comparison.most_points)) {
      for (const NodeId node : point.loads.nodes.ids()) {
        const NodeLoad& load = point.loads.nodes[node];
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", one.plan.search, point.steps, int{node},
                       elements(load.memory), elements(load.in), elements(load.out));
      }
    }
  }
  return text;
}

}  // namespace kasen::spread
