// Pass "schedule": writes the schedule of every block (libcore/schedule/schedule.h), as the executor would make it for
// itself. A schedule that is there stays. Requires level 3; gives level 4.
#include "libcore/schedule/schedule.h"

#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {

bool pass_schedule(Module& module, PassContext& /*context*/) {
  if (module.level >= 4) return false;
  compact_values(module);
  write_schedule(module);
  module.level = 4;
  return true;
}

}  // namespace kasen
