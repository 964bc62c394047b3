// Gathers a run's counters on rank 0.
#pragma once

#include "libcomm/data/cut/partition.h"
#include "libopt/time/run_report.h"
#include "tools/run/cluster.h"

namespace kasen::tools {

// The counters of all ranks; on rank 0 alone. All ranks call it.
[[nodiscard]] RunReport gather_report(Cluster& cluster, const Module& module, const RunReport& mine);

// The numbers of a bundle that a report keeps (RunReport::sizes).
[[nodiscard]] Polynomial::Bindings data_sizes(const BundleStatistics& data);

}  // namespace kasen::tools
