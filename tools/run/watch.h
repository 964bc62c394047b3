// kasen run --timeout: ends a job without progress, and reports the last step of each rank.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libcore/run/executor.h"
#include "tools/run/cluster.h"
#include "tools/run/job.h"

namespace kasen::tools {

// The phases of a job outside of the steps of its plan.
enum class JobPhase : std::int32_t { reading, preparing, running, saving, verifying, writing };

// A thread on each rank watches the records of all ranks of its node, in shared memory, so that others describe a
// stopped rank. Where no record changes for so long, the first to see it reports that and ends the job. Time in which
// this process was stopped itself does not count.
class RunWatch : public RunObserver {
 public:
  // All ranks construct it together, and destroy it together.
  RunWatch(double seconds, Cluster& cluster, const JobOutput& output);
  ~RunWatch() override;
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  void enter(JobPhase phase);
  void know(const Module& module);                              // its operators run from now on
  void forward_to(RunObserver* observer) { next_ = observer; }  // notified as well; may be nullptr
  void saved(const std::string& checkpoint);                    // the newest that the run could go on from

  void began(RunPhase phase, int number, const Place& place, const OpCount& count) override;
  void ended(RunPhase phase, int number, const OpCount& count) override;

 private:
  struct Record;

  [[nodiscard]] Record& record(size_t place) const;
  [[nodiscard]] std::int64_t beats() const;
  void look();
  [[noreturn]] void expire();
  [[nodiscard]] std::string line_of(size_t place) const;
  [[nodiscard]] std::string step_of(const Record& record) const;
  void tell(const std::string& text, char mark) const;

  double seconds_;
  Cluster& cluster_;
  const JobOutput& output_;
  RunObserver* next_ = nullptr;
  NodeBoard board_;
  std::atomic<const std::vector<std::string>*> steps_ = nullptr;  // names of operators in messages
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int outer_step_ = -1;     // in which the exchange at hand starts or finishes
  std::string checkpoint_;  // under the mutex, as is:
  bool done_ = false;
  std::thread thread_;
};

}  // namespace kasen::tools
