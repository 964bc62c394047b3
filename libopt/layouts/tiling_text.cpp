#include "libopt/layouts/tiling_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "libcore/ir/layout.h"
#include "libcore/json/report.h"
#include "libopt/layouts/moves.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

using tiling::VariableId;

struct ArrayLine {
  VariableId id;
  std::string name, layout;
  double bytes = 0;
  Location where;
};

struct MoveLine {
  std::string result;  // of the operator; "": copies that are kept
  std::vector<VariableId> among;
  double bytes = 0;
  Location where;
};

struct Facts {
  std::vector<ArrayLine> arrays;
  std::vector<MoveLine> moves;  // that are not free
};

std::string place_text(const Location& where) {
  return where.line > 0 ? fmt::format("{}:{}", where.line, where.column) : "-";
}

Facts facts_of(const MeshTiling& tiling) {
  const LayoutProblem& problem = *tiling.problem;
  const Module& module = problem.module();
  const tiling::Graph& graph = problem.graph();
  std::map<int, std::pair<std::string, Location>> ops;
  IdMap<ValueId, Location> made(module.values.size());
  for_each_op(module, [&](const Op& op, int number, int) {
    ops[number] = {op.results.empty() ? std::string() : module.value(op.results[0]).name, op.where};
    for (const ValueId v : op.results) made[v] = op.where;
    for (const Block& block : op.blocks) {
      for (const ValueId arg : block.args) made[arg] = op.where;
    }
  });
  const Moves moves(module);
  Facts facts;
  for (const VariableId id : graph.ids()) {
    const std::string& layout = graph[id].choices.at(tiling.solution.choices[id]).name;
    const ValueId v = problem.array(id);
    const bool is_array = v != no_value;
    facts.arrays.push_back(
        {id, graph[id].name, layout, is_array ? moves.array(module.type(v)) : 0, is_array ? made[v] : Location{}});
  }
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const tiling::Factor& factor = graph.factors()[f];
    const double bytes = graph.cost(factor, tiling.solution.choices);
    if (bytes <= 0) continue;
    const int number = problem.op(f);
    MoveLine line{"", factor.variables, bytes, {}};
    if (number >= 0) std::tie(line.result, line.where) = ops.at(number);
    if (number < 0) line.where = facts.arrays.at(static_cast<std::size_t>(factor.variables[0])).where;
    facts.moves.push_back(std::move(line));
  }
  return facts;
}

std::string mesh_text(const std::vector<MeshAxis>& mesh) {
  if (mesh.empty()) return "one axis";
  std::string text;
  for (const MeshAxis& axis : mesh) text += (text.empty() ? "" : "x") + std::to_string(axis.size);
  return text;
}

std::string cost_text(double cost) { return cost == tiling::forbidden ? "none found" : short_bytes(cost); }

std::string names_of(const Facts& facts, const std::vector<VariableId>& among) {
  std::string text;
  for (const VariableId id : among) {
    text += (text.empty() ? "" : ", ") + facts.arrays.at(static_cast<std::size_t>(id)).name;
  }
  return text;
}

tiling::Solution solved(const MeshTiling& tiling, const OptimizeOptions& options, TileSearch search) {
  OptimizeOptions other = options;
  other.tile = search;
  return search_graph(tiling.problem->graph(), other);
}

std::string dot_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\\\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

TilingView view_tilings(const Module& module, LawChecker& laws, const OptimizeOptions& options) {
  TilingView view{search_tilings(module, laws, options), {}, {}, {}, {}, tiling_sizes(module, options).defaults};
  const MeshTiling& best = view.tilings.front();
  view.greedy = solved(best, options, TileSearch::greedy);
  view.in_order = solved(best, options, TileSearch::mincost);
  view.worst = solved(best, options, TileSearch::worst);
  return view;
}

std::string proof_text(const tiling::Solution& solution) {
  if (solution.is_certified()) return "least, proven";
  if (solution.bound <= 0) return "no bound";
  return fmt::format("bound {}, gap {:.3g} %", short_bytes(solution.bound), (solution.cost / solution.bound - 1) * 100);
}

std::string tiling_text(const TilingView& view) {
  const MeshTiling& best = view.tilings.front();
  const Facts facts = facts_of(best);
  std::string text = fmt::format("mesh {}: {} moved in the whole run ({})\n", mesh_text(best.mesh),
                                 cost_text(best.solution.cost), proof_text(best.solution));
  text += fmt::format("greedy {}, mincost {}, worst {}\n", cost_text(view.greedy.cost), cost_text(view.in_order.cost),
                      cost_text(view.worst.cost));
  for (std::size_t i = 1; i < view.tilings.size(); ++i) {
    text += fmt::format("mesh {}: {}\n", mesh_text(view.tilings[i].mesh), cost_text(view.tilings[i].solution.cost));
  }
  if (!view.observed.empty()) text += fmt::format("an earlier run gave {}\n", fmt::join(view.observed, ", "));
  if (!view.defaults.empty()) text += fmt::format("defaults: {}\n", fmt::join(view.defaults, ", "));
  std::vector<std::vector<std::string>> rows{{"array", "line", "bytes", "layout"}};
  for (const ArrayLine& line : facts.arrays) {
    rows.push_back({line.name, place_text(line.where), short_bytes(line.bytes), line.layout});
  }
  text += '\n' + table_text(rows);
  rows = {{"moved for", "line", "bytes", "among"}};
  for (const MoveLine& line : facts.moves) {
    const std::string what = line.result.empty() ? "copies" : line.result;
    rows.push_back({what, place_text(line.where), short_bytes(line.bytes), names_of(facts, line.among)});
  }
  if (facts.moves.empty()) return text + "\nnothing moves\n";
  return text + '\n' + table_text(rows);
}

std::string tiling_json(const TilingView& view) {
  const MeshTiling& best = view.tilings.front();
  const Facts facts = facts_of(best);
  const auto number = [](double cost) { return cost == tiling::forbidden ? Json() : Json(cost); };
  Json json = new_report("tilings");
  json.update({{"mesh", mesh_text(best.mesh)},
               {"bytes", number(best.solution.cost)},
               {"bound_bytes", number(best.solution.bound)},
               {"proven", best.solution.is_certified()},
               {"greedy_bytes", number(view.greedy.cost)},
               {"mincost_bytes", number(view.in_order.cost)},
               {"worst_bytes", number(view.worst.cost)},
               {"observed", view.observed},
               {"defaults", view.defaults}});
  json["meshes"] = Json::array();
  for (const MeshTiling& tiling : view.tilings) {
    json["meshes"].push_back({{"mesh", mesh_text(tiling.mesh)}, {"bytes", number(tiling.solution.cost)}});
  }
  json["arrays"] = Json::array();
  for (const ArrayLine& line : facts.arrays) {
    json["arrays"].push_back(
        {{"name", line.name}, {"line", line.where.line}, {"bytes", line.bytes}, {"layout", line.layout}});
  }
  json["moves"] = Json::array();
  for (const MoveLine& line : facts.moves) {
    Json among = Json::array();
    for (const VariableId id : line.among) among.push_back(facts.arrays.at(static_cast<std::size_t>(id)).name);
    json["moves"].push_back(
        {{"result", line.result}, {"line", line.where.line}, {"bytes", line.bytes}, {"among", std::move(among)}});
  }
  return report_document(json);
}

std::string tiling_dot(const TilingView& view) {
  const MeshTiling& best = view.tilings.front();
  const Facts facts = facts_of(best);
  std::string text = fmt::format(
      "digraph {} {{\n  rankdir=TB; node [shape=box, style=filled, fillcolor=\"#cfe8cf\", "
      "fontname=\"sans-serif\", fontsize=10]; edge [fontname=\"sans-serif\", fontsize=9];\n",
      dot_text(best.problem->module().name));
  text += fmt::format("  label={};\n",
                      dot_text(fmt::format("mesh {}: {} moved", mesh_text(best.mesh), cost_text(best.solution.cost))));
  for (const ArrayLine& line : facts.arrays) {
    text += fmt::format("  v{} [label={}];\n", static_cast<int>(line.id),
                        dot_text(fmt::format("{}\\n{}\\n{}", line.name, line.layout, short_bytes(line.bytes))));
  }
  for (const MoveLine& line : facts.moves) {
    const int to = line.among.back();
    for (const VariableId id : line.among) {
      if (static_cast<int>(id) == to && line.among.size() > 1) continue;
      text += fmt::format("  v{} -> v{} [label={}];\n", static_cast<int>(id), to, dot_text(short_bytes(line.bytes)));
    }
  }
  return text + "}\n";
}

}  // namespace kasen
