// Regions (libcore/ir/regions.def) are made here alone, of the operators of a block that run as one. Which these are is
// the choice of a selector (selection/shapes.h) or of passes/fuse_epilogue.cpp.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class ValueNames;

// Operators that become one region: positions in their block, ascending. A region among them joins with all that it
// holds.
struct Cluster {
  RegionKind kind;
  std::vector<int> members;
};

// Returns the operators of a region without its yield, or the operator itself.
[[nodiscard]] std::span<const Op> operators_of(const Op& op);

// Makes regions of exactly these clusters, each free of cycles by itself. The rest of the block keeps its order as
// nearly as possible. A region yields the values that anything outside needs. The level becomes 3.
void make_regions(ValueNames& names, Block& block, const std::vector<Cluster>& clusters);

// Makes the regions that `choose` finds in each block, until it finds none: positions of operators change. Returns true
// if any was made.
using ChooseClusters = std::vector<Cluster>(const Module& module, const Block& block);
bool form_regions(Module& module, const std::function<ChooseClusters>& choose);

}  // namespace kasen
