// --method auto: data are cut by every method, on paper; what the program is predicted to take on each decides.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/ir/module.h"
#include "libopt/time/machine.h"
#include "tools/options/inputs.h"

namespace kasen::tools {

struct ChosenParts {
  PartitionMethod method;
  std::vector<Part> parts;
};

// `module`: the program, of any level (below 3 it is fused as `kasen go` does), or null: then a product of the one
// matrix in each turn. Fills in the sizes and original ids of `data.dims`; adds to options.notes what was chosen and
// why.
[[nodiscard]] ChosenParts partition_automatically(const Module* module, ProgramData& data, PartitionOptions options,
                                                  const MachineProfile& machine);

}  // namespace kasen::tools
