// What communication_bounds finds, as people and programs read it.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/json/text.h"
#include "libopt/cost/sizes.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/machine.h"

namespace kasen {

// A table of all rows; empty if there are none, or sizes are not known.
[[nodiscard]] std::string bounds_text(const ReportContext& context);
// The same; null if sizes are not known. With a machine also the estimates in seconds on it.
[[nodiscard]] Json bounds_json(const ReportContext& context, const MachineProfile* machine);
// The estimates of the same rows in seconds on a machine; empty if there are none.
[[nodiscard]] std::string bounds_times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine);

}  // namespace kasen
