#include "libopt/spread/cluster.h"

#include <fmt/format.h>

#include "libcore/base/error.h"

namespace kasen::spread {

void require_cluster(const Cluster& cluster) {
  if (cluster.nodes < 1 || cluster.workers < 1) {
    fail(ExitStatus::usage, fmt::format("{} nodes of {} workers", cluster.nodes, cluster.workers),
         "a cluster has at least one worker", "give numbers from 1");
  }
  if (cluster.intra < 0 || cluster.intra > element_load) {
    fail(ExitStatus::usage, fmt::format("traffic in a node weighs {} thousandths", cluster.intra),
         "it weighs no more than traffic between nodes", "give a weight from 0 to 1");
  }
  const auto size = static_cast<std::int64_t>(cluster.nodes) * cluster.workers;
  if (size > most_workers) {
    fail(ExitStatus::limit, fmt::format("{} nodes of {} workers are {} workers", cluster.nodes, cluster.workers, size),
         fmt::format("blocks are placed on at most {}", most_workers), "give fewer nodes or workers");
  }
}

}  // namespace kasen::spread
