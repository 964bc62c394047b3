// --machine FILE.yaml: a machine profile (libopt/time/machine.h), from configs/ or measured.
#pragma once

#include <string>

#include "libopt/time/machine.h"

namespace kasen::tools {

// UserError(configuration) with file:line:column for an unknown or repeated key, and for a number that is not positive.
[[nodiscard]] MachineProfile read_machine(const std::string& path);

}  // namespace kasen::tools
