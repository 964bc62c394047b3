// Why: a product or a reduction whose operands are cut otherwise moves whole arrays before it begins. Block by block,
// it moves the blocks alone that each worker lacks, and each block operator runs where that loads the network and the
// memory of nodes least (NumS: load simulated hierarchical scheduling). Requires cuts, at level 1, and keeps the level.
#include "libcore/analysis/boxes.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/regions.h"
#include "libopt/passes/passes.h"
#include "libopt/placing/form_regions.h"
#include "libopt/placing/place_tasks.h"
#include "libopt/spread/search.h"

namespace kasen {
namespace {

constexpr std::int64_t placed_size = 1000, placed_local = 100;

// Those of the data. Loads are compared: sizes that nobody knows need only be alike.
Module with_sizes(const Module& module, const OptimizeOptions& options) {
  Module sized = module;
  const Polynomial::Bindings known = options.sizes ? options.sizes(module).totals : Polynomial::Bindings();
  for (Dimension& dim : sized.dims) {
    if (dim.size >= 0 || dim.is_derived()) continue;
    const auto size = known.find({SymbolKind::size, dim.name, {}, -1});
    dim.size = size != known.end() ? size->second : dim.local ? placed_local : placed_size;
  }
  derive_sizes(sized.dims, "these sizes", mesh_workers(sized));
  return sized;
}

void place_regions(const Module& sized, Block& block, const OptimizeOptions& options,
                   const placing::OutsideTypes& outside) {
  for (Op& op : block.ops) {
    if (is_blocks(op)) {
      const placing::RegionGraph graph = placing::region_graph(sized, op, outside);
      const spread::Cluster cluster = placing::cluster_of(sized);
      placing::take_plan(
          sized, op, graph,
          spread::find_placement(options.spread.search, graph.graph, cluster, options.spread.found_by).plan);
    } else {
      for (Block& inner : op.blocks) place_regions(sized, inner, options, outside);
    }
  }
}

}  // namespace

bool pass_spread(Module& module, PassContext& context) {
  if (context.options.spread.search.empty() || module.mesh.empty() || module.level != 1) return false;
  placing::OutsideTypes outside;
  if (!placing::form_regions(module, context.options.spread.grids, outside)) return false;
  place_regions(with_sizes(module, context.options), module.body, context.options, outside);
  return true;
}

}  // namespace kasen
