// --machine FILE.yaml: a machine profile (libopt/time/machine.h), from configs/ or measured. KASEN_PROFILE names the
// one that is taken without the option.
#pragma once

#include <optional>
#include <string>

#include "libopt/time/machine.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// The file that --machine names, else the one of KASEN_PROFILE; nothing if there is neither.
[[nodiscard]] std::optional<std::string> machine_file(const po::variables_map& values);
// Its profile. UserError(configuration) with file:line:column for an unknown or repeated key, and for a number that is
// not positive.
[[nodiscard]] std::optional<MachineProfile> machine_of(const po::variables_map& values);
[[nodiscard]] MachineProfile read_machine(const std::string& path);

}  // namespace kasen::tools
