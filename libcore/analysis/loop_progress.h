// Values that show the progress of a loop: the number whose change its user watches.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

// The first float shared of the body from which the loop's test is computed, else the first one that the loop carries;
// or no_value. It is a value of the body.
[[nodiscard]] ValueId watched_value(const Module& module, const Op& loop);

// The value that the loop's test compares with the watched one, if it is made outside the loop; or no_value.
[[nodiscard]] ValueId watched_limit(const Module& module, const Op& loop);

// The value of this block under the user's name: the value before its gather and scatter.
[[nodiscard]] ValueId before_transitions(const Block& block, ValueId value);

}  // namespace kasen
