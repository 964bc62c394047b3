// Fusion DAGs of a module: the only place that knows both the IR and them.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/fusion/dag.h"
#include "libopt/time/time_model.h"

namespace kasen::fusion {

struct BlockDag {
  std::string title;  // "while at 9:1"
  const Block* block = nullptr;
  Dag dag;
  std::vector<int> places;  // by node: of its operator in the block; -1 for what is read and for views
};

// One for each block that holds operators which templates can cover, the outermost first (section 2.1: blocks are
// delineated by control flow). Maps, reductions and products of distributed arrays are nodes; so is the view t(M) of a
// product over M's columns (mxv), as in the paper. What comes from sources, transitions, lists, control and
// operators on shareds is read. Nodes are numbered so: all that is read in the order of first use, then operators in
// program order. `in` gives numbers for sizes, all of them.
[[nodiscard]] std::vector<BlockDag> fusion_dags(const Module& module, const TimeCase& in);

}  // namespace kasen::fusion
