// What a machine does: with it bytes and operations become seconds (docs/cost.md, "Time"). The numbers built in are
// those of a small cluster (configs/machine.yaml has them to edit); only their ratios decide between plans. Rates are
// those of one process with all the threads that it is given.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "libcore/scalar/scalar_work.h"

namespace kasen {

// Bytes of a vector that any cache holds, and of one that none does.
inline constexpr double near_span = 256 << 10, far_span = 256 << 20;

struct MachineProfile {
  double memory_bandwidth = 10e9;     // bytes a second that one worker reads and writes
  double network_bandwidth = 1.25e9;  // bytes a second that one worker sends
  double network_latency = 20e-6;     // seconds that a message takes beside its bytes
  double cache_bytes = 0;             // what the caches hold (0: nothing is expected to stay there)
  double cache_bandwidth = 40e9;      // bytes a second of a program whose arrays all fit in there
  double loop_latency = 5e-6;         // seconds that the loop of an operator or a region takes to start and to end
  double near_entry = 0.5e-9;         // seconds of a product for each stored entry, its vector of near_span
  double far_entry = 1.2e-9;          // the same with a vector of far_span
  // Seconds of one scalar operation (f64), by ScalarWork.
  std::array<double, scalar_works> operation{0, 0.1e-9, 0.4e-9, 0.5e-9, 0.5e-9, 0.6e-9, 0.8e-9, 2e-9, 1e-9, 2e-9};
  double threads = 0;  // with which it was measured; 0: not known

  [[nodiscard]] double& seconds(ScalarWork work) { return operation.at(static_cast<std::size_t>(work)); }
  // Of a process that has only this part of the machine's threads. Messages and starts stay as they are.
  [[nodiscard]] MachineProfile part(double share) const;
};

// What a profile's file calls its numbers: one row each.
struct MachineKey {
  std::string_view name, doc;
  double& (*of)(MachineProfile& machine);
  bool may_be_zero;
};
[[nodiscard]] std::span<const MachineKey> machine_keys();
// "exp: 5.1e-10  # seconds of one exponential" for each key of which `wanted` holds.
[[nodiscard]] std::string machine_lines(MachineProfile machine, bool (*wanted)(const MachineKey& key));

}  // namespace kasen
