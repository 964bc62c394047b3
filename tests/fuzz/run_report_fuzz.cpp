// The counters of a run, which measure --against reads.
#include "libopt/time/run_report.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {

void fuzz_run_report(std::string_view content) {
  const RunReport report = read_run_report(std::string(content), "run.json");
  require(report.workers >= 0 && report.ranks >= 0 && report.threads >= 0 && report.kernel_bytes >= 0,
          "counters are no less than 0");
  for (const OpCount& op : report.ops) require(op.executions >= 0 && op.read_bytes >= 0, "counters are no less than 0");
}

}  // namespace kasen::fuzz
