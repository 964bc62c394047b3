// The text of kasen-run at its end: the largest elements, the iterations, the slowest operators, the traffic.
#pragma once

#include <string>
#include <vector>

#include "libcore/run/executor.h"
#include "libopt/time/run_report.h"

namespace kasen::tools {

struct RunTimes {
  double reading = 0, preparing = 0, verifying = 0, writing = 0;  // seconds
};
[[nodiscard]] std::string summary_text(const Module& module, const RunReport& report, const RunTimes& times);

// "325,557".
[[nodiscard]] std::string grouped(std::int64_t number);

// The user's line of an operator: "pagerank.ks:11: new_pr = ..."; empty where there is none.
[[nodiscard]] std::string source_of(const Module& module, const Op& op);

// One line for a finished iteration of the outermost loop.
[[nodiscard]] std::string iteration_text(const Iteration& iteration);

}  // namespace kasen::tools
