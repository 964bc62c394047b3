/// \file
/// Runs a plan on the parts of this process: one loop over the lines of its schedule, two interfaces (Transport,
/// KernelSet), and no coordinator. All levels run: a value without a buffer gets one of its own, and a plan below level
/// 4 its schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/data/memory_plan.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libcore/kernels/form_store.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering.h"
#include "libcore/run/border.h"
#include "libcore/transport/transport.h"

namespace kasen {

class DiskWatch;  // libcore/data/disk_elements.h
class Tier;

/// One finished iteration of an outermost loop. `change` is the first float shared carried or tested by the loop (NaN:
/// none).
struct Iteration {
  Place place;
  double change = 0;
  double seconds = 0;  ///< since the run began
};

/// The events of a run that its observer sees: a step, and an iteration of a loop (`turn`). A step is a line of the
/// schedule: it runs an operator or some rows of it (Place::rows), or starts an exchange, waits for it, or both. Inside
/// it are the start and the finish of the exchange, and before its work (`moves`) the wait for arrays that the plan
/// stores and loads. An operator's executions are counted at its last line.
enum class RunPhase : std::uint8_t { step, iteration, start, finish, moves };

/// Observes a run. Calls nest, and come from the thread that runs the plan. `count` is the current count of operator
/// `number`; the work in between is the difference.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void began(RunPhase phase, int number, const Place& place, const OpCount& count) = 0;
  virtual void ended(RunPhase phase, int number, const OpCount& count) = 0;
};

struct RunOptions {
  std::map<std::string, std::vector<Word>> params;     ///< by name; missing ones take the program's default
  std::function<void(const Iteration&)> on_iteration;  ///< progress; may throw to stop
  std::int64_t memory = 0;  ///< bytes that this process may take, its data among them; 0: what the system has left
  std::int64_t pass_bytes = std::int64_t{1} << 20;  ///< of rows on a disk that are brought at a time
  /// Where arrays go that the run makes and `memory` has no room for; not owned. Null: all stay in memory.
  Tier* spill = nullptr;
  /// Sums numbers over the processes of this machine, if there are others. Each calls it once, before the first step.
  std::function<void(std::span<std::int64_t>)> sum_on_machine;
  bool refuse_nan = false;  ///< UserError(check_failed) at the first NaN: reads all results once more
  /// Called after each iteration of an outermost loop, on every process; may throw to stop. Without it nothing is
  /// collected.
  std::function<void(const Border&)> on_border;
  const ResumePoint* resume = nullptr;  ///< resumes from there; not owned
  RunObserver* observer = nullptr;      ///< not owned
  DiskWatch* disk_watch = nullptr;      ///< is told what the run reads and writes of arrays on disks; not owned
  WithinGroups masters = WithinGroups::ordered;  ///< the order of owned elements; results have the same bits in any
  /// Forms of the parts that a run before this one has made; not owned. Null: all are made.
  FormStore* forms = nullptr;
  /// Called before the first step for each part (its index in `parts`) and each sparse matrix of its products, when all
  /// forms of the matrix are built. The run no longer reads the matrix's nonzeros; a caller short of memory frees them.
  std::function<void(size_t part, const std::string& matrix)> on_formed;
};

/// `parts` are those of the transport's local workers, in order. Throws UserError if the bundle lacks data that the
/// plan needs, or a parameter is unknown. Works on a copy of `module` in which the data's sizes replace sizes that the
/// program leaves open. `kernels.prepare` and all calls get that copy (inner_size holds there), which dies with the
/// run. A plan that names layouts runs over a mesh of the transport's workers: parts hold boxes (box_parts.h), and
/// parts of other sizes than the first get another() kernel set.
[[nodiscard]] RunResult execute(const Module& module, const std::vector<Part>& parts, Transport& transport,
                                KernelSet& kernels, const RunOptions& options);
/// What execute() would do with memory and disks, known before it runs. UserError(limit) where execute() would refuse,
/// with the least memory that is enough.
[[nodiscard]] MemoryPlan plan_memory(const Module& module, const std::vector<Part>& parts, Transport& transport,
                                     KernelSet& kernels, const RunOptions& options);
/// All that execute() does before the first step, for its effect on `options.forms`.
void make_forms(const Module& module, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels,
                const RunOptions& options);

}  // namespace kasen
