#include "tools/run/gather.h"

namespace kasen::tools {

RunReport gather_report(Cluster& cluster, const Module& module, const RunReport& mine) {
  if (cluster.ranks() == 1) return mine;
  RunReport all;
  bool first = true;
  for (const std::string& text : cluster.gather(run_report_json(module, mine))) {
    RunReport rank = read_run_report(text, "a rank's counters");
    if (first) {
      all = std::move(rank);
    } else {
      merge(all, rank);
    }
    first = false;
  }
  return all;
}

}  // namespace kasen::tools
