// --method auto: each method is tried on a sample of the data, on paper; the predicted time of the program decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libcomm/data/cut/partition.h"
#include "libcore/ir/module.h"
#include "libopt/time/machine.h"

namespace kasen::tools {

struct ChosenMethod {
  PartitionMethod method = PartitionMethod::hybrid_cut;
  std::string note;   // the choice and its reason; empty where no method is better than others
  std::string brief;  // what a terminal shows of it
};

// `module`: the program, of any level (below 3 it is fused as `kasen go` does), or null for one product of the one
// matrix in each iteration. `no_room`: the memory that ml would need, where that is more than it may take.
[[nodiscard]] ChosenMethod chosen_method(CutLook& look, const Module* module, const MachineProfile& machine,
                                         std::optional<std::int64_t> no_room);

// Makes partition() choose so. `told` gets the choice; it and the program outlive the options.
void choose_automatically(PartitionOptions& options, const Module* module, const MachineProfile& machine,
                          std::int64_t multilevel_bytes, ChosenMethod& told);

}  // namespace kasen::tools
