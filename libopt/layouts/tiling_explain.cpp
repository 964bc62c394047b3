#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "libcore/ir/layout.h"
#include "libopt/layouts/tiling_text.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

using tiling::VariableId;

constexpr double step = 8, most_factor = 1 << 21;  // by which a size is changed to see whether a cut changes
constexpr std::size_t most_arrays = 100;           // that are asked about, one search for each other cut

// The graph without the choices of one variable that mean these cuts.
tiling::Solution without(const LayoutProblem& problem, VariableId id, const Cuts& cuts,
                         const OptimizeOptions& options) {
  tiling::Graph graph = problem.graph();
  tiling::Factor factor{{id}, {}, false};
  for (std::size_t choice = 0; choice < graph[id].choices.size(); ++choice) {
    factor.costs.push_back(problem.cuts(id, choice) == cuts ? tiling::forbidden : 0);
  }
  graph.add(std::move(factor));
  return search_graph(graph, options);
}

// A change of one size: by which the best tiling is another one.
struct Change {
  std::string dim;
  double factor = 1;
  MeshTiling tiling;
};

std::vector<Change> changes(const Module& module, LawChecker& laws, const OptimizeOptions& options,
                            const MeshTiling& best) {
  std::vector<Change> all;
  OptimizeOptions same = options;
  same.mesh = best.mesh;
  same.mesh_workers = 0;
  for (const Dimension& dim : module.dims) {
    if (dim.is_derived()) continue;  // its sources change it
    for (double factor = step; factor <= most_factor; factor *= step) {
      for (const double by : {factor, 1 / factor}) {
        same.scaled = {dim.name, by};
        std::vector<MeshTiling> tilings = search_tilings(module, laws, same);
        all.push_back({dim.name, by, std::move(tilings.front())});
      }
    }
  }
  return all;
}

// The nearest change of a size that changes an array's cuts.
std::string flip_text(const std::vector<Change>& changes, VariableId id, const Cuts& cuts) {
  const Change* nearest = nullptr;
  const auto distance = [](const Change& change) { return std::abs(std::log(change.factor)); };
  for (const Change& change : changes) {
    const Cuts then = change.tiling.problem->cuts(id, change.tiling.solution.choices[id]);
    if (then != cuts && (nearest == nullptr || distance(change) < distance(*nearest))) nearest = &change;
  }
  if (nearest == nullptr) return "no size alone changes it";
  const bool more = nearest->factor > 1;
  const double times = more ? nearest->factor : 1 / nearest->factor;
  return fmt::format("another cut if {} were {:g} times {}", nearest->dim, times, more ? "larger" : "smaller");
}

}  // namespace

std::string tiling_explanation(const Module& module, LawChecker& laws, const OptimizeOptions& options) {
  const std::vector<MeshTiling> tilings = search_tilings(module, laws, options);
  const MeshTiling& best = tilings.front();
  const LayoutProblem& problem = *best.problem;
  const std::vector<Change> changed = changes(module, laws, options, best);
  const ReportContext context(module, nullptr);
  std::map<ValueId, Location> made;
  for_each_op(module, [&](const Op& op, int, int) {
    for (const ValueId v : op.results) made[v] = op.where;
    for (const Block& block : op.blocks) {
      for (const ValueId arg : block.args) made[arg] = op.where;
    }
  });
  std::string text, shown;
  std::size_t asked = 0;
  for (const VariableId id : problem.graph().ids()) {
    const ValueId v = problem.array(id);
    if (v == no_value || possible_cuts(problem.module(), module.type(v).dims).size() < 2) continue;
    if (++asked > most_arrays) {
      text += fmt::format("and more; these are the first {} arrays that can be cut otherwise\n", most_arrays);
      break;
    }
    const Module& sized = problem.module();
    const Cuts cuts = problem.cuts(id, best.solution.choices[id]);
    const Location where = made.contains(v) ? made.at(v) : Location{};
    const std::string line = fmt::format("line {}: {}\n", where.line, context.source_line(where));
    if (line != shown) text += line;
    shown = line;
    text += fmt::format("  {} is {}\n", sized.value(v).name,
                        problem.graph()[id].choices.at(best.solution.choices[id]).name);
    const tiling::Solution other = without(problem, id, cuts, options);
    if (other.cost == tiling::forbidden) {
      text += "    it is so by --layout\n";
      continue;
    }
    if (other.cost == best.solution.cost) {
      text +=
          fmt::format("    as good: {}\n", cuts_text(sized, sized.type(v).dims, problem.cuts(id, other.choices[id])));
      continue;
    }
    text += fmt::format("    second best: {}, {} in place of {} in all\n    {}\n",
                        cuts_text(sized, sized.type(v).dims, problem.cuts(id, other.choices[id])),
                        short_bytes(other.cost), short_bytes(best.solution.cost), flip_text(changed, id, cuts));
  }
  return text.empty() ? "no array can be cut otherwise\n" : text;
}

}  // namespace kasen
