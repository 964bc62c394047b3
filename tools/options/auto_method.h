// --method auto: cuts the data by every method, on paper; the predicted time of the program on each cut decides.
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

// `module`: the program, of any level (below 3 it is fused as `kasen go` does), or null for one product of the one
// matrix in each iteration. Fills in the sizes and original ids of `data.dims`; adds the choice and its reason to
// options.notes.
[[nodiscard]] ChosenParts partition_automatically(const Module* module, ProgramData& data, PartitionOptions options,
                                                  const MachineProfile& machine);

}  // namespace kasen::tools
