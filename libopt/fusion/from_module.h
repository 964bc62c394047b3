// Makes the fusion DAGs of a module. Only this file knows both the IR and the DAGs.
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
  IdMap<NodeId, int> places;  // of its operator in the block; -1 for read values and views
};

// Returns one for each block that holds operators which templates can cover, the outermost first (section 2.1: blocks
// are delineated by control flow). Maps, reductions and products of distributed arrays are nodes. So is the view t(M)
// of a product over M's columns (mxv), as in the paper. The results of sources, transitions, lists, control and
// operators on shareds are read. Read values have the first numbers, in the order of first use; operators in program
// order follow. `in` gives numbers for all sizes.
[[nodiscard]] std::vector<BlockDag> fusion_dags(const Module& module, const TimeCase& in);

}  // namespace kasen::fusion
