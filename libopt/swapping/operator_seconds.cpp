#include "libopt/swapping/operator_seconds.h"

#include "libopt/cost/cost.h"
#include "libopt/time/price.h"

namespace kasen::swapping {

OperatorSeconds::OperatorSeconds(const Module& module, const std::function<Sizes(const Module&)>& sizes,
                                 const MachineProfile& machine) {
  Pricing pricing(sizes, machine);
  const CostReport report = measure(module);
  const TimeModel model(module, report);
  const TimeCase in = pricing.time_case(module);
  std::vector<int> open;
  for_each_op(module, [&](const Op&, int number, int depth) {
    open.resize(static_cast<std::size_t>(depth));
    open.push_back(number);
    double own = 0;
    for (const TimePart part : {TimePart::work, TimePart::exchange, TimePart::ends}) {
      if (const auto time = model.once(number, part, in)) own += time->sum();
    }
    own_.push_back(own);
    all_.push_back(0);
    for (const int around : open) all_[static_cast<std::size_t>(around)] += own;
  });
}

}  // namespace kasen::swapping
