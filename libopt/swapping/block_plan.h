// The plan by which the arrays of one block leave memory and come back: the planner of libopt/swap over one order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libopt/swap/plan.h"
#include "libopt/swap/simulate.h"
#include "libopt/swapping/block_graph.h"
#include "libopt/time/machine.h"

namespace kasen::swapping {

struct BlockPlan {
  swap::SwapPlan swaps;
  swap::Timeline time;
};

// Nothing if some operator needs more. `once`: the block runs once; else it repeats, and ends as it began. `capacity`:
// bytes of memory for the arrays that may leave.
[[nodiscard]] std::optional<BlockPlan> plan_block(const BlockGraph& block, const swap::Order& order,
                                                  std::int64_t capacity, bool once, const MachineProfile& machine);

// For each move, a line: why it is made, and what runs beside it.
[[nodiscard]] std::vector<std::string> explain_moves(const BlockGraph& block, const BlockPlan& plan);

}  // namespace kasen::swapping
