// What a run counted, as `kasen run --stats run.json` writes it (docs/cost.md has the keys), and the check of a
// prediction against it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/executor.h"
#include "libcore/module.h"
#include "libopt/sizes.h"

namespace kasen {

struct RunReport {
  std::string program;
  std::string plan_digest;    // module_digest of the plan that ran
  std::string bundle_digest;  // of its manifest; empty if the data did not come from a bundle
  int workers = 0, ranks = 1, threads = 1;
  std::string kernels;       // "generated", "interpreter"
  std::vector<OpCount> ops;  // by preorder number
  std::vector<PartCount> parts;
  Traffic traffic;
  std::int64_t kernel_bytes = 0;  // held by the kernels themselves, over all ranks
  std::int64_t late_allocations = 0;
  double seconds = 0;
};

// The counters of one process. Results of other ranks are taken in by `merge`.
[[nodiscard]] RunReport make_run_report(const Module& module, const RunResult& result);
// Sums what each rank counts for its own workers; executions, turns and seconds are those of all (the largest).
void merge(RunReport& all, const RunReport& rank);

[[nodiscard]] std::string run_report_json(const Module& module, const RunReport& report);
// UserError(bad_input) naming the key that is missing or of the wrong type.
[[nodiscard]] RunReport read_run_report(const std::string& text, const std::string& file);

// 16 hex digits that name a plan: of its text without the lines of history.
[[nodiscard]] std::string module_digest(const Module& module);

// One number, predicted and counted.
struct Compared {
  std::string what;       // "reads", "worker 3: buffers"
  Location where;         // of the statement, if it belongs to one
  std::string statement;  // "tmp2 = mxv[mul, add] tmp1, G"
  std::int64_t predicted = 0, counted = 0;
  [[nodiscard]] bool agrees() const { return predicted == counted; }
};

struct Check {
  std::vector<Compared> totals;      // reads, writes, network, memory: over all workers
  std::vector<Compared> mismatches;  // of single operators, workers and totals
};

// Predicts with the run's own executions and turns. `sizes` must be by worker. UserError(bad_input) where the run was
// of another plan or another number of workers.
[[nodiscard]] Check check_against(const Module& module, const Sizes& sizes, const RunReport& run);
[[nodiscard]] std::string check_text(const Module& module, const Check& check);
[[nodiscard]] std::string check_json(const Check& check);

}  // namespace kasen
