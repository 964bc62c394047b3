// One block of a plan that stores and loads arrays, over time: what the planner of such plans expects of it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/swap/plan.h"
#include "libopt/swap/simulate.h"
#include "libopt/swapping/buffer_sizes.h"
#include "libopt/time/machine.h"

namespace kasen::swapping {

// As the planner has them (block_plan.h).
[[nodiscard]] swap::Links links_of(const MachineProfile& machine);

class MovingBlock {
 public:
  struct Task {
    std::span<const Op> ops;  // one; of a program's outputs, all
    swap::Span time;
  };
  struct Transfer {
    const Op* op = nullptr;  // store or load
    std::int64_t bytes = 0;
    swap::Span time;
  };
  // `seconds`: of an operator. The block, and what is inside of it, has to stay alive.
  MovingBlock(const Module& module, const Block& block, const BufferSizes& sizes, const swap::Links& links,
              const std::function<double(const Op&)>& seconds);

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const std::vector<Transfer>& transfers() const { return transfers_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // of one execution, to the end of its last transfer
  // Calls use(buffer, span) for each time in which a buffer in memory has content. Loops that are `apart` say so
  // themselves of what is inside of them; what is inside of other operators counts here, for as long as these run.
  void each_use(const std::function<bool(const Op&)>& apart,
                const std::function<void(BufferId, const swap::Span&)>& use) const;

 private:
  void add_task(std::span<const Op> ops, double seconds);
  void add_transfer(const Op& op);
  [[nodiscard]] std::vector<int> awaited(std::span<const Op> ops) const;
  [[nodiscard]] BufferId buffer(ValueId v) const { return m_.value(v).buffer; }

  const Module& m_;
  const Block& block_;
  const BufferSizes& sizes_;
  swap::TaskGraph graph_;
  swap::SwapPlan plan_;
  std::vector<Task> tasks_;
  std::vector<Transfer> transfers_;
  double seconds_ = 0;
};

}  // namespace kasen::swapping
