// Chooses where the arrays of a program are cut over a mesh of workers (Spartan, USENIX ATC 2015, section 3.3), and
// writes it down. Cuts that a module has, and those that the user asks for, stay.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/layouts/problem.h"
#include "libopt/options/options.h"
#include "libopt/tiling/solve/search.h"

namespace kasen {

// The numbers by which layouts are compared: those at hand, and defaults for others.
struct TilingSizes {
  Polynomial::Bindings bindings;       // of all dimensions, and of the workers
  std::function<double(int op)> runs;  // executions of an operator in the whole run
  std::vector<std::string> defaults;   // "N = 1,000,000"
};
[[nodiscard]] TilingSizes tiling_sizes(const Module& module, const OptimizeOptions& options);

struct MeshTiling {
  std::vector<MeshAxis> mesh;
  std::unique_ptr<LayoutProblem> problem;  // by options.tile_costs
  tiling::Solution solution;
};

// The numbers at hand alone.
[[nodiscard]] Polynomial::Bindings known_sizes(const Module& module, const OptimizeOptions& options);

// The tilings of all meshes that the options leave open, the cheapest one first (of equal ones: fewest axes, then in
// lexicographic order). The module is of level 1, and is not tiled.
[[nodiscard]] std::vector<MeshTiling> search_tilings(const Module& module, LawChecker& laws,
                                                     const OptimizeOptions& options);

// By options.tile, within options.copy_bytes.
[[nodiscard]] tiling::Solution search_graph(const tiling::Graph& graph, const OptimizeOptions& options);

// All ways to write so many workers as a mesh of one to three axes of at least two.
[[nodiscard]] std::vector<std::vector<MeshAxis>> meshes_of(std::int64_t workers);

// Writes cuts and relayouts into a module of level 1: by options.tile, or by the usual rules.
void tile_by_search(Module& module, LawChecker& laws, const OptimizeOptions& options);
void tile_usually(Module& module, LawChecker& laws, const OptimizeOptions& options);

}  // namespace kasen
