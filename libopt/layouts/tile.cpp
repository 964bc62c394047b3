#include "libopt/layouts/tile.h"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libopt/cost/cost.h"
#include "libopt/layouts/from_module.h"
#include "libopt/layouts/hints.h"
#include "libopt/layouts/paper_costs.h"
#include "libopt/layouts/tiler.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

constexpr std::size_t most_axes = 3;

Symbol workers_symbol() { return {SymbolKind::workers, "", {}, -1}; }

void add_meshes(std::int64_t workers, std::vector<MeshAxis>& axes, std::vector<std::vector<MeshAxis>>& all) {
  const auto name = [&] { return std::string(1, static_cast<char>('a' + static_cast<int>(axes.size()))); };
  if (workers > 1 || axes.empty()) {
    axes.push_back({name(), workers});
    all.push_back(axes);
    axes.pop_back();
  }
  if (axes.size() + 1 == most_axes) return;
  for (std::int64_t size = 2; size <= workers / 2; ++size) {
    if (workers % size != 0) continue;
    axes.push_back({name(), size});
    add_meshes(workers / size, axes, all);
    axes.pop_back();
  }
}

std::vector<std::vector<MeshAxis>> open_meshes(const Module& module, const OptimizeOptions& options) {
  if (!module.mesh.empty()) return {module.mesh};
  if (!options.mesh.empty()) return {options.mesh};
  if (options.mesh_workers > 0) return meshes_of(options.mesh_workers);
  return {{}};
}

// The mesh stands in the module where somebody asks for one; else it runs on any number of workers.
Module sized_for(const Module& module, const std::vector<MeshAxis>& mesh, const TilingSizes& sizes) {
  Module sized = module;
  for (Dimension& dim : sized.dims) dim.size = sizes.bindings.at({SymbolKind::size, dim.name, {}, -1});
  sized.mesh = mesh.empty() ? mesh_of(sized, static_cast<int>(sizes.bindings.at(workers_symbol()))) : mesh;
  return sized;
}

// True if some array could be cut otherwise.
bool is_open(const tiling::Graph& graph) {
  bool open = false;
  for (const tiling::VariableId id : graph.ids()) open = open || graph[id].choices.size() > 1;
  return open;
}

void write(Module& module, LawChecker& laws, const Polynomial::Bindings& sizes, TilingDecisions decided) {
  if (!module.mesh.empty()) derive_sizes(module.dims, "the mesh", mesh_workers(module));
  const ProductSizes known(sizes);
  Tiler(module, laws, known, std::move(decided)).run();
}

}  // namespace

tiling::Solution search_graph(const tiling::Graph& graph, const OptimizeOptions& options) {
  tiling::Limits limits;
  if (options.copy_bytes >= 0) limits.memory = static_cast<double>(options.copy_bytes);
  switch (options.tile) {
    case TileSearch::greedy:
      return tiling::greedy(graph, limits);
    case TileSearch::mincost:
      return tiling::in_order(graph, limits);
    case TileSearch::worst:
      return tiling::worst(graph, limits);
    default:
      return tiling::exact(graph, limits);
  }
}

std::vector<std::vector<MeshAxis>> meshes_of(std::int64_t workers) {
  std::vector<std::vector<MeshAxis>> all;
  std::vector<MeshAxis> axes;
  add_meshes(workers, axes, all);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all;
}

Polynomial::Bindings known_sizes(const Module& module, const OptimizeOptions& options) {
  return options.sizes ? options.sizes(module).totals : Polynomial::Bindings();
}

namespace {

// Those that are assumed or scaled here follow from their sources, too.
void derive_dimensions(const Module& module, Polynomial::Bindings& sizes) {
  const std::int64_t workers = sizes.at(workers_symbol());
  const auto size = [&](DimId d) -> std::int64_t& { return sizes.at({SymbolKind::size, module.dim(d).name, {}, -1}); };
  for (const DimId d : module.dims.ids()) {
    const Dimension& dim = module.dim(d);
    if (!dim.is_derived()) continue;
    const std::int64_t derived = dim.is_workers() ? workers : derived_size(dim.derived, size);
    size(d) = dim.is_observed() ? std::min(size(d), derived) : derived;
  }
}

}  // namespace

TilingSizes tiling_sizes(const Module& module, const OptimizeOptions& options) {
  Pricing pricing(options.sizes, options.machine);
  const TimeCase in = pricing.time_case(module);
  TilingSizes sizes;
  for (const Dimension& dim : module.dims) {
    const Symbol symbol{SymbolKind::size, dim.name, {}, -1};
    sizes.bindings[symbol] = dim.size >= 0 ? dim.size : static_cast<std::int64_t>(in.value(Polynomial(symbol)).value());
  }
  const auto scaled = sizes.bindings.find({SymbolKind::size, options.scaled.first, {}, -1});
  if (scaled != sizes.bindings.end()) {
    const double size = static_cast<double>(scaled->second) * options.scaled.second;
    scaled->second = std::max<std::int64_t>(1, std::llround(std::min(size, 1e12)));
  }
  std::int64_t workers = 1;
  for (const MeshAxis& axis : module.mesh.empty() ? options.mesh : module.mesh) workers *= axis.size;
  const bool meshed = !module.mesh.empty() || !options.mesh.empty();
  const std::int64_t assumed = options.mesh_workers > 0 ? options.mesh_workers : static_cast<std::int64_t>(in.workers);
  sizes.bindings[workers_symbol()] = meshed ? workers : assumed;
  derive_dimensions(module, sizes.bindings);
  std::vector<double> runs;  // now, so that the defaults have iterations
  for (const CostRow& row : measure(module).rows) runs.push_back(in.value(row.executions).value_or(1));
  sizes.runs = [runs = std::move(runs)](int op) { return runs.at(static_cast<std::size_t>(op)); };
  sizes.defaults = pricing.defaults();
  if (meshed || options.mesh_workers > 0) {  // the workers are known
    std::erase_if(sizes.defaults, [](const std::string& text) { return text.rfind("P = ", 0) == 0; });
  }
  return sizes;
}

std::vector<MeshTiling> search_tilings(const Module& module, LawChecker& laws, const OptimizeOptions& options) {
  const TilingSizes sizes = tiling_sizes(module, options);
  std::vector<MeshTiling> tilings;
  for (const std::vector<MeshAxis>& mesh : open_meshes(module, options)) {
    const Module sized = sized_for(module, mesh, sizes);
    TilingInput input{sizes.runs, asked_layouts(sized, options.layouts), options.copy_bytes >= 0};
    MeshTiling& tiling = tilings.emplace_back(MeshTiling{mesh, nullptr, {}});
    if (options.tile_costs == TileCosts::paper) {
      tiling.problem = std::make_unique<PaperProblem>(sized, input.fixed, input.budget);
    } else {
      tiling.problem = std::make_unique<TilingProblem>(sized, laws, std::move(input));
    }
    tiling.solution = search_graph(tiling.problem->graph(), options);
  }
  const bool dearest = options.tile == TileSearch::worst;
  std::stable_sort(tilings.begin(), tilings.end(), [&](const MeshTiling& a, const MeshTiling& b) {
    return dearest ? a.solution.cost > b.solution.cost : a.solution.cost < b.solution.cost;
  });
  return tilings;
}

void tile_by_search(Module& module, LawChecker& laws, const OptimizeOptions& options) {
  require_dense(module, !options.mesh.empty() || options.mesh_workers > 0 || !module.mesh.empty());
  const std::vector<MeshTiling> tilings = search_tilings(module, laws, options);
  const MeshTiling& best = tilings.front();
  if (options.notes != nullptr && is_open(best.problem->graph())) {
    options.notes->assume(tiling_sizes(module, options).defaults);
  }
  const Polynomial::Bindings sizes = known_sizes(module, options);
  module.mesh = best.mesh;
  if (best.solution.cost == tiling::forbidden) throw InternalError("a program that no layout allows");
  write(module, laws, sizes, best.problem->decisions(best.solution.choices));
}

void tile_usually(Module& module, LawChecker& laws, const OptimizeOptions& options) {
  require_dense(module, !options.mesh.empty() || !module.mesh.empty());
  const Polynomial::Bindings sizes = known_sizes(module, options);
  if (module.mesh.empty()) module.mesh = options.mesh;
  TilingDecisions decided;
  decided.cuts = asked_layouts(module, options.layouts);
  write(module, laws, sizes, std::move(decided));
}

}  // namespace kasen
