// kasen-run --network-profile: measures the network between two ranks.
#pragma once

#include <string>

#include "tools/run/cluster.h"

namespace kasen::tools {

// The keys network_bandwidth and network_latency of a machine profile, on rank 0; empty elsewhere. All ranks call it;
// ranks 0 and 1 exchange. UserError(usage) for one rank alone.
[[nodiscard]] std::string network_profile(Cluster& cluster);

}  // namespace kasen::tools
