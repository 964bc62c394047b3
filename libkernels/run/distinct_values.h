// Reductions of a compressed matrix's cells alone (takes_distinct_values of libcore/analysis/compressed_rules.h): each
// distinct value is read once, and counts as often as it occurs.
#pragma once

#include <vector>

#include "libkernels/run/plan_kernels.h"

namespace kasen {

class Workshop;

// A loop like `whole`, of a reduction or a region of them, that takes a count with each cell. Sums multiply by it, all
// other reducers take equal values once. `module` gets the functions that it needs, behind its own.
class DistinctLift {
 public:
  explicit DistinctLift(const Module& module) : module_(module) {}
  [[nodiscard]] const Module& module() const { return module_; }
  // Emitted as `name`, not yet looked up.
  [[nodiscard]] DistinctKernel emit(KernelMaker& maker, const LoopBody& whole, const std::string& name);

 private:
  [[nodiscard]] ValueId counts_of(const Type& cells, Scalar scalar, LoopBody& body, DistinctKernel& made);

  Module module_;
};

// `cells`: the loop that takes cells one by one, for plain groups.
void run_distinct_values(Workshop& shop, const PlanKernels& plan, const DistinctKernel& distinct,
                         const ElementwiseKernel& cells, const ElementwiseCall& call);

}  // namespace kasen
