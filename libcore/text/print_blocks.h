// The text of what regions of blocks have beside other regions. Internal to the printer.
#pragma once

#include <string>

#include "libcore/ir/module.h"

namespace kasen::text {

[[nodiscard]] std::string grid_text(const Module& module, const Op& region);  // "[N 4, K :2000]"
[[nodiscard]] std::string placement_text(const Op& op);  // " on [0*4, 1] tree [(0, 1, 3)]"; empty outside of a region

}  // namespace kasen::text
