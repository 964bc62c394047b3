// One rank's share of a run, from the plan's text to the written result.
#pragma once

#include "tools/run_cluster.h"
#include "tools/run_options.h"

namespace kasen::tools {

// How a rank speaks to whoever started it.
struct JobOutput {
  bool launched = false;  // by kasen-run -n: marked lines on standard error
  bool progress = false;  // a terminal: draw turns
};

// Throws UserError. All ranks run it; rank 0 writes the result and the summary.
void run_job(const RunSettings& settings, Cluster& cluster, const JobOutput& output);

}  // namespace kasen::tools
