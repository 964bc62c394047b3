// What kasen-run prints when it is done: the largest elements, the turns, where the time went, what was moved.
#pragma once

#include <string>
#include <vector>

#include "libcore/executor.h"
#include "tools/run_gather.h"

namespace kasen::tools {

// The `count` largest elements of every vector result of plain numbers, with the user's ids.
[[nodiscard]] std::string top_text(const std::vector<WholeOutput>& outputs, int count);

struct RunFacts {
  int workers = 1, ranks = 1, threads = 1;
  std::string kernels, result_file, stats_file;
  double reading_seconds = 0, preparing_seconds = 0, writing_seconds = 0;
};
[[nodiscard]] std::string summary_text(const Module& module, const RunResult& counts, const RunFacts& facts);

// One line for a finished turn of the outermost loop.
[[nodiscard]] std::string turn_text(const Turn& turn);

}  // namespace kasen::tools
