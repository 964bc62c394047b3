// --method auto: each method is tried on a sample of the data, on paper; the predicted time of the program decides.
#pragma once

#include "libcomm/data/cut/partition.h"
#include "libcore/ir/module.h"
#include "libopt/time/machine.h"

namespace kasen::tools {

// Makes partition() choose the method. `module`: the program, of any level (below 3 it is fused as `kasen go` does), or
// null for one product of the one matrix in each iteration. It outlives the options. The choice and its reason go to
// `told`; it is empty where no method is better than others.
struct ChosenMethod {
  PartitionMethod method = PartitionMethod::hybrid_cut;
  std::string note;
};
void choose_automatically(PartitionOptions& options, const Module* module, const MachineProfile& machine,
                          std::int64_t multilevel_bytes, ChosenMethod& told);

}  // namespace kasen::tools
