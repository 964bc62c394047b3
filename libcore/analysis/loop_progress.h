// What tells how far a loop is: the number whose change its user watches.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

// The first float shared of the body that the loop's test is computed from, else the first one that the loop carries;
// or no_value. A value of the body.
[[nodiscard]] ValueId watched_value(const Module& module, const Op& loop);

// The value that the loop's test compares the watched one with, if it is made outside of the loop; or no_value.
[[nodiscard]] ValueId watched_limit(const Module& module, const Op& loop);

// What the user called a value of this block: before it was gathered and scattered.
[[nodiscard]] ValueId before_transitions(const Block& block, ValueId value);

}  // namespace kasen
