// A tiling as people and programs read it: the arrays with their cuts, what each operator moves, and how good the
// choice is.
#pragma once

#include <string>
#include <vector>

#include "libcore/laws/laws.h"
#include "libopt/layouts/tile.h"

namespace kasen {

// Of the cheapest mesh.
struct TilingView {
  std::vector<MeshTiling> tilings;  // as search_tilings gives them
  tiling::Solution greedy, in_order, worst;
  std::vector<std::string> observed, defaults;  // the sizes that an earlier run gave, and nobody: "N = 1,000"
};
[[nodiscard]] TilingView view_tilings(const Module& module, LawChecker& laws, const OptimizeOptions& options);

// "least, proven", or "bound 1 MB, gap 3 %".
[[nodiscard]] std::string proof_text(const tiling::Solution& solution);

[[nodiscard]] std::string tiling_text(const TilingView& view);
[[nodiscard]] std::string tiling_json(const TilingView& view);
// For Graphviz: arrays with their cuts; an edge for what an operator moves, with its bytes.
[[nodiscard]] std::string tiling_dot(const TilingView& view);

// Each cut by the line of the program that makes the array: the second best choice and what it would cost in all, and
// the size that would have to change, and how far, for the choice to be another one.
[[nodiscard]] std::string tiling_explanation(const Module& module, LawChecker& laws, const OptimizeOptions& options);

}  // namespace kasen
