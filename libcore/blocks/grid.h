/// \file
/// The blocks of arrays in a region of blocks (RegionKind::blocks). A region names the blocks of some dimensions; along
/// all others an array has one. So arrays over the same dimensions have the same blocks, and those of an operator's
/// operands and result meet. (NumS: block grids; Elibol and others, "NumS: Scalable Array Programming for the Cloud",
/// section 3.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/module.h"

namespace kasen {

/// The number of blocks along a dimension; nothing if the module lacks its size, on which the number depends.
[[nodiscard]] std::optional<std::int64_t> blocks_along(const Module& module, const Op& region, DimId dim);
/// The indices of block `place` of a dimension. `module` has sizes. Empty runs are possible.
[[nodiscard]] IndexRun block_run(const Module& module, const Op& region, DimId dim, std::int64_t place);

/// The labels of an operator that may stand in a region of blocks: map, reduce and contractions (contraction.h). An
/// axis of an operand and one of the result meet if they have one label; labels that the result lacks are summed.
[[nodiscard]] Labels block_labels(const Module& module, const Op& op);
[[nodiscard]] bool may_work_on_blocks(const Module& module, const Op& op);
/// The function that combines the contributions to a block; no_fn if nothing is summed.
[[nodiscard]] FnId combining_function(const Module& module, const Op& op);

/// What is wrong with the additions of a block of so many contributions; "" if each contribution and each sum but the
/// last is an operand of one later addition.
[[nodiscard]] std::string tree_fault(const Op& op, std::int64_t block, std::int64_t each);

/// How many tasks an operator has: one for each block of its result and each tuple of blocks that it sums.
struct TaskCounts {
  std::vector<std::int64_t> kept, summed;  ///< blocks along each label of the result, and along each summed label
  std::int64_t results = 1;                ///< blocks of the result
  std::int64_t each = 1;                   ///< contributions to one of them
};
/// Nothing where blocks_along has nothing. UserError (limit) if there are more than most_block_tasks.
[[nodiscard]] std::optional<TaskCounts> task_counts(const Module& module, const Op& region, const Op& op);

}  // namespace kasen
