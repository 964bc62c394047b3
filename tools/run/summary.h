// The text of kasen-run at its end: the largest elements, the iterations, the slowest operators, the traffic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/json/text.h"
#include "libcore/run/executor.h"
#include "libopt/time/run_report.h"

namespace kasen::tools {

struct RunTimes {
  double reading = 0, preparing = 0, verifying = 0, writing = 0;  // seconds
};

struct SlowOperator {
  double seconds = 0, share = 0;  // of the time of all operators
  std::string what;               // with the user's line
};

// A run in short. The report outlives it.
struct RunSummary {
  const RunReport* report = nullptr;
  RunTimes times;
  std::int64_t iterations = 0;                                    // of outermost loops
  std::int64_t buffers = 0, pool_bytes = 0, most_pool_bytes = 0;  // the latter on one worker
  std::int64_t disk_read_bytes = 0, disk_written_bytes = 0;
  std::int64_t loaded_forms = 0, made_forms = 0;
  bool has_nodes = false;             // the plan's mesh names nodes
  std::vector<SlowOperator> slowest;  // the slowest first
};
[[nodiscard]] RunSummary summarize(const Module& module, const RunReport& report, const RunTimes& times);
[[nodiscard]] std::string summary_text(const RunSummary& summary);
[[nodiscard]] Json summary_json(const RunSummary& summary);

// The files that a run has written; empty texts for those that nobody asked for.
struct MadeFiles {
  std::vector<std::string> results;
  std::string dictionary, counters, trace;
};
[[nodiscard]] std::string files_text(const MadeFiles& made);  // but for the trace

// All of it as a report of the kind "run". `results`: the shown rows of outputs; `checkpoints`: of a run that saves, or
// null.
[[nodiscard]] std::string run_document(const RunSummary& summary, const Json& results, const MadeFiles& made,
                                       const Json& checkpoints);

// "325,557".
[[nodiscard]] std::string grouped(std::int64_t number);

// The user's line of an operator: "pagerank.ks:11: new_pr = ..."; empty where there is none.
[[nodiscard]] std::string source_of(const Module& module, const Op& op);

// One line for a finished iteration of the outermost loop.
[[nodiscard]] std::string iteration_text(const Iteration& iteration);

}  // namespace kasen::tools
