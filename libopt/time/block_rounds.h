// The time of a region of blocks, round by round (docs/cost.md, "Time"): the process whose tasks and own copies take
// longest decides, and so does the one that sends or receives most. A region's tasks are priced one by one, as
// operators of one worker.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/time/priced_tasks.h"
#include "libopt/time/time_model.h"

namespace kasen {

// One round in one execution.
struct BlockRoundTime {
  PredictedTime time;
  int tasks = 0;     // of all workers
  double moved = 0;  // bytes between processes
  int slowest = -1;  // the first worker of the process that decides; -1: no task runs and nothing is copied
};

class BlockRounds {
 public:
  // `sized` has sizes and a mesh; the region is of it. UserError if it was placed for other sizes.
  BlockRounds(const Module& sized, const Op& region);

  // The mesh's workers lie on processes in runs. `rates`: those of the plan's arrays. The last round hands results on.
  [[nodiscard]] std::vector<BlockRoundTime> times(const TimeCase& in, const StepRates& rates) const;
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }

 private:
  struct WorkerRound {
    std::vector<int> variants;                  // of its tasks
    double copied = 0;                          // bytes between its boxes and blocks
    std::vector<std::pair<int, double>> sends;  // bytes by peer
  };
  [[nodiscard]] std::vector<PredictedTime> task_times(const TimeCase& in, const StepRates& rates) const;
  void add_moves(std::size_t round, const std::vector<int>& process_of, const TimeCase& in, BlockRoundTime& made) const;

  std::vector<std::vector<WorkerRound>> workers_;  // rounds by worker
  std::size_t rounds_ = 0;
  PricedTasks tasks_;
  std::unique_ptr<TimeModel> model_;
};

// Those of a module's regions, made once for equal sizes.
class KnownBlockRounds {
 public:
  explicit KnownBlockRounds(const Module& module) : module_(&module) {}
  // Nothing if a size is not known, or if the region was placed for other ones.
  [[nodiscard]] std::shared_ptr<const BlockRounds> of(int number, const TimeCase& in);

 private:
  const Module* module_;
  std::mutex mutex_;
  std::map<std::pair<int, std::vector<std::int64_t>>, std::shared_ptr<const BlockRounds>> known_;
};

}  // namespace kasen
