/// \file
/// The tasks of a region of blocks. Each operator inside has one for each block of its result and each tuple of blocks
/// that it sums, in row-major order: the result's axes first, then the summed ones in order of their labels. Where
/// several contribute to one block, additions follow in the order that the operator's `tree` gives, so sums have the
/// same bits wherever they are made. Executor, cost model and the pass that places tasks all read this list.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/blocks/grid.h"

namespace kasen {

/// A block of a value, or a contribution to one.
struct BlockObject {
  ValueId value = no_value;
  int argument = -1;  ///< the region's operand of which it is a block; -1: a task makes it
  int worker = -1;    ///< that makes it; -1: none. Blocks of operands are where the operand's layout has them
  int round = -1;     ///< of the task that makes it; of several, the last one
  Elements elements;  ///< of the block
};

/// A task computes one block from others, in `round` (rounds.h).
struct BlockTask {
  const Op* op = nullptr;
  bool adds = false;       ///< it combines two contributions
  int variant = 0;         ///< in BlockTasks::variants
  std::vector<int> reads;  ///< objects, by operand; then the one that it reduces onto, which it makes (join_sums.h)
  int makes = -1;          ///< an object
  int worker = -1;
  int round = 0;
};

/// Tasks of one operator over blocks of one shape.
struct TaskVariant {
  const Op* op = nullptr;
  bool adds = false;
  bool onto = false;                  ///< the terms are reduced onto a block of the result
  Labels labels;                      ///< of an addition: of equal operands
  std::vector<std::int64_t> extents;  ///< of labels.result, then of the summed labels

  [[nodiscard]] std::int64_t extent(char label) const;
};

struct BlockTasks {
  std::vector<BlockObject> objects;
  std::vector<BlockTask> tasks;
  std::vector<TaskVariant> variants;
  std::vector<std::vector<int>> results;  ///< of each result of the region: its blocks, row-major
  int rounds = 0;
};

/// `module` has sizes. Operators without `on` are not placed: their tasks have no worker, and their sums stand in
/// order. UserError (bad_input) if an operator is placed for another number of blocks. The region must stay.
[[nodiscard]] BlockTasks block_tasks(const Module& module, const Op& region);

/// The additions of `each` contributions one after the other, all on one worker.
[[nodiscard]] std::vector<TreeAdd> additions_in_order(std::int64_t each, int worker);

}  // namespace kasen
