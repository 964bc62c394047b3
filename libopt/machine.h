// What a machine does: with it bytes become seconds. The numbers built in are those of a small cluster
// (configs/machine.yaml has them to edit); only their ratios decide between plans.
#pragma once

namespace kasen {

struct MachineProfile {
  double memory_bandwidth = 10e9;     // bytes a second that one worker reads and writes
  double network_bandwidth = 1.25e9;  // bytes a second that one worker sends
  double network_latency = 20e-6;     // seconds that a message takes beside its bytes
};

}  // namespace kasen
