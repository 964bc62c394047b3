// One rank's share of a run, from the plan's text to the written result.
#pragma once

#include <functional>
#include <string>

#include "tools/launch/launch.h"
#include "tools/launch/options.h"
#include "tools/run/cluster.h"

namespace kasen::tools {

// How a rank reports to the process that started it.
struct JobOutput {
  bool launched = false;               // by kasen-run -n: marked lines on standard error
  bool progress = false;               // a terminal: draw iterations
  std::function<void()> watched = {};  // called once all ranks watch each other (--timeout)
};

// Sends a message, to the launcher where there is one. A message that begins with "error:" gets this tool's name.
void tell_of_job(const JobOutput& output, const std::string& text, char mark = error_mark);

// Throws UserError. All ranks run it; rank 0 writes the result and the summary.
void run_job(const RunSettings& settings, Cluster& cluster, const JobOutput& output);

// Writes the code of the plan's kernels for settings.target into `file`: assembly if it ends in .s, else an ELF object.
void write_kernels(const RunSettings& settings, const std::string& file);

}  // namespace kasen::tools
