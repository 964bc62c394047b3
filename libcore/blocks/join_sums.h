/// \file
/// Sums of products in place. A contribution that is added to another on the worker that makes it needs no memory: its
/// product is reduced onto the other one (a contraction with `onto`), which nothing else reads.
#pragma once

#include "libcore/blocks/tasks.h"

namespace kasen {

/// The tasks of a region that is placed, with such additions joined with their contributions. A block of a sum is then
/// one object that several tasks make, one behind the other. What nothing makes or reads any longer is left out.
[[nodiscard]] BlockTasks with_joined_sums(BlockTasks made);

}  // namespace kasen
