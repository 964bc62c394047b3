// Runs a plan on the parts of this process: one loop over the operators, two interfaces (Transport, KernelSet), no
// coordinator. Any level runs: values without a buffer get one of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering.h"
#include "libcore/run/border.h"
#include "libcore/run/transport.h"

namespace kasen {

// One finished turn of an outermost loop. `change` is the first float shared carried or tested by the loop (NaN: none).
struct Turn {
  Place place;
  double change = 0;
  double seconds = 0;  // since the run began
};

// What a run tells its observer of: a step, a turn of a loop, and within a transition the start and the finish of its
// exchange (a product may start the gather of its result).
enum class RunPhase : std::uint8_t { step, turn, start, finish };

// Watches a run as it happens. Calls nest, and come from the thread that runs the plan. `count` is that of operator
// `number` so far: what was done meanwhile is the difference.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void began(RunPhase phase, int number, const Place& place, const OpCount& count) = 0;
  virtual void ended(RunPhase phase, int number, const OpCount& count) = 0;
};

struct RunOptions {
  std::map<std::string, std::vector<Word>> params;  // by name; missing ones take the program's default
  std::function<void(const Turn&)> on_turn;         // progress; may throw to stop
  std::int64_t memory = 0;  // bytes that this process may take, its data among them; 0: what the system has left
  // Adds up numbers over the processes of this machine, where there are others; all of them call it once, before the
  // first step.
  std::function<void(std::span<std::int64_t>)> sum_on_machine;
  bool refuse_nan = false;  // UserError(check_failed) where the first NaN was made: reads all that is made once more
  // After each turn of an outermost loop, on every process; may throw to stop. Not called: nothing is looked at.
  std::function<void(const Border&)> on_border;
  const ResumePoint* resume = nullptr;           // goes on from there; not owned
  RunObserver* observer = nullptr;               // not owned
  WithinGroups masters = WithinGroups::ordered;  // the order of masters; results have the same bits in any
  // Called before the first step for each sparse matrix that products use, of each part (its place among `parts`), once
  // it is in the forms that they use: its entries are not looked at again, and a caller short of memory frees them.
  std::function<void(size_t part, const std::string& matrix)> on_formed;
};

// `parts` are those of the transport's local workers, in order. Throws UserError when the bundle lacks what the plan
// asks for, or a parameter is unknown. Works on a copy of `module` in which the data's sizes stand for those that the
// program leaves open: `kernels.prepare` and every call receive that copy (inner_size holds there), which dies with
// the run.
[[nodiscard]] RunResult execute(const Module& module, const std::vector<Part>& parts, Transport& transport,
                                KernelSet& kernels, const RunOptions& options);

}  // namespace kasen
