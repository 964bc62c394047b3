// The seconds of the operators of a plan, as the planner of swaps and its pictures take them.
#pragma once

#include <functional>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen::swapping {

class OperatorSeconds {
 public:
  OperatorSeconds(const Module& module, const std::function<Sizes(const Module&)>& sizes,
                  const MachineProfile& machine);
  // Of an operator by its number in preorder, without those inside it.
  [[nodiscard]] double own(int number) const { return own_.at(static_cast<std::size_t>(number)); }
  // With those inside it, each once.
  [[nodiscard]] double all(int number) const { return all_.at(static_cast<std::size_t>(number)); }

 private:
  std::vector<double> own_, all_;
};

}  // namespace kasen::swapping
