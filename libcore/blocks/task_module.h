/// \file
/// The tasks of a region of blocks as a plan of one worker: an operator for each variant (tasks.h), whose operands are
/// inputs of the block's shape. The executor runs it operator by operator, on the blocks of each task, so kernels know
/// nothing of blocks. The cost model prices its operators.
#pragma once

#include <vector>

#include "libcore/blocks/tasks.h"

namespace kasen {

struct TaskModule {
  Module module;         ///< level 3, with sizes
  std::vector<int> ops;  ///< of each variant: its place in module.body.ops
};

/// `module` has sizes.
[[nodiscard]] TaskModule task_module(const Module& module, const std::vector<TaskVariant>& variants);

}  // namespace kasen
