// The trials of this processor as a machine profile keeps them.
#pragma once

#include <string>

#include "libcore/base/built_from.h"
#include "libkernels/jit/target.h"
#include "libkernels/jit/trials.h"

namespace kasen {

[[nodiscard]] inline TrialProfile trials_to_keep() {
  return {Target::name(), std::string(built_from()), trials_here(Target().widest_bits())};
}

}  // namespace kasen
