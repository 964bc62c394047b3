// The counters of a run, as `kasen run --stats run.json` writes them (docs/cost.md has the keys), and the check of a
// prediction against them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/memory_plan.h"
#include "libcore/data/run_result.h"
#include "libcore/data/run_timeline.h"
#include "libcore/ir/module.h"
#include "libcore/json/text.h"
#include "libcore/kernels/choices.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The course of an outermost loop: its iterations, or every `every`-th of them.
struct IterationSample {
  std::int64_t iteration = 0;  // from 1
  double change = 0;           // the watched number (libcore/analysis/loop_progress.h); NaN: none
  double seconds = 0;          // since the run began
};
struct LoopIterations {
  int number = -1;              // the loop's operator
  std::string watched;          // the name of the watched number; empty: none is watched
  std::optional<double> limit;  // the number that the loop's test compares it with
  std::int64_t every = 1;
  std::vector<IterationSample> iterations;
};

// The counts of one rank. Its transitions' time is the time in gathers and scatters, waiting included.
struct RankCount {
  int rank = 0, first_worker = 0, workers = 0;
  double seconds = 0, transition_seconds = 0;
  std::int64_t resident_bytes = 0;  // the most that the whole process ever held; 0: not known
  double preparing_seconds = 0;     // from the data in memory to the first step; 0 in older files
  // Forms of the rank's parts that the bundle kept, and that it did not; 0 in older files, and where none was asked
  // for.
  std::int64_t loaded_forms = 0, made_forms = 0;
  std::int64_t made_kernels = 0, kept_kernels = 0;  // KernelCounts; 0 in older files
};

// A loop or an `if` of the program (a plan may have several of one place): how often it ran, and the iterations of all
// these, or those that took the first branch.
struct ControlCount {
  SymbolKind kind = SymbolKind::trips;  // or taken
  Location where;
  std::int64_t executions = 0, times = 0;
};

struct RunReport {
  std::string program;
  std::string source_digest;  // source_digest of the plan that ran; empty in older files
  std::string plan_digest;    // module_digest of the plan that ran
  std::string bundle_digest;  // of its manifest; empty if the data did not come from a bundle
  int workers = 0, ranks = 1, threads = 1;
  std::string kernels;              // "generated", "interpreter"
  std::string processor;            // as the kernels of rank 0 see it (KernelSet::processor); empty in older files
  std::vector<MadeChoice> choices;  // that they made by trial; the same
  std::map<std::string, std::string> params;  // their values in this run, as a program states them; the same
  std::vector<OpCount> ops;                   // by preorder number
  std::vector<ControlCount> control;          // read from a file; empty in older ones
  Polynomial::Bindings sizes;                 // of the data: indices, nonzeros, ghosts by axis; empty in older files
  std::vector<LineTime> lines;                // of the plan's schedule; empty in older files
  std::vector<PartCount> parts;
  Traffic traffic;
  std::int64_t kernel_bytes = 0;  // held by the kernels themselves, over all ranks
  std::int64_t late_allocations = 0;
  double seconds = 0;
  std::vector<RankCount> by_rank;        // empty in older files
  std::vector<LoopIterations> loops;     // the same; rank 0's
  std::optional<RunTimeline> timeline;   // rank 0's, of a run with arrays on disks
  std::vector<VerifiedOutput> verified;  // empty if no verification was asked for
};

// Returns the counters of one process. `merge` adds the results of other ranks.
[[nodiscard]] RunReport make_run_report(const Module& module, const RunResult& result);
// Sums the counts that each rank has for its own workers. Executions, iterations and seconds are those of all (the
// largest).
void merge(RunReport& all, const RunReport& rank);

[[nodiscard]] std::string run_report_json(const Module& module, const RunReport& report);
[[nodiscard]] Json params_json(const std::map<std::string, std::string>& params);
// Throws UserError(bad_input) with the key that is missing or of the wrong type.
[[nodiscard]] RunReport read_run_report(const std::string& text, const std::string& file);

// Returns 16 hex digits that identify a plan, from its text without the lines of history.
[[nodiscard]] std::string module_digest(const Module& module);
// The same for the program's source that a plan carries, whatever the plan; empty for a plan that carries none.
[[nodiscard]] std::string source_digest(const Module& module);

// One number, predicted and counted.
struct Compared {
  std::string what;       // "reads", "worker 3: buffers"
  Location where;         // the location of the statement, if it belongs to one
  std::string statement;  // "tmp2 = mxv[mul, add] tmp1, G"
  std::int64_t predicted = 0, counted = 0;
  [[nodiscard]] bool agrees() const { return predicted == counted; }
};

// The bytes of one operator, over all of its executions and all workers.
struct OperatorBytes {
  std::int64_t read = 0, written = 0, network = 0;
  friend bool operator==(const OperatorBytes&, const OperatorBytes&) = default;
};
struct ComparedOperator {
  OperatorBytes predicted, counted;
  [[nodiscard]] bool agrees() const { return predicted == counted; }
};

struct Check {
  std::vector<Compared> totals;             // reads, writes, network, memory: over all workers
  std::vector<Compared> workers;            // what each one sent and received; empty where that is not known
  std::vector<Compared> mismatches;         // of single operators, workers and totals
  std::vector<ComparedOperator> operators;  // by number
};

// Predicts with the run's own executions and iterations. `sizes` must be by worker. Throws UserError(bad_input) if the
// run was of another plan or another number of workers.
/// `limited`: what was predicted for the memory that the run was allowed, if arrays of it were on disks.
[[nodiscard]] Check check_against(const Module& module, const Sizes& sizes, const RunReport& run,
                                  const MemoryPlan* limited = nullptr);
/// A row for each total, or, not `whole`, for those alone that differ.
[[nodiscard]] std::string check_text(const Module& module, const Check& check, bool whole = true);
// `times`: of compared_times_json (times.h), where a machine was given; else null.
[[nodiscard]] std::string check_json(const Check& check, const Json& times);

}  // namespace kasen
