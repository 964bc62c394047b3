#include "libopt/time/step.h"

#include <algorithm>

namespace kasen {

PredictedTime& PredictedTime::operator+=(const PredictedTime& other) {
  memory += other.memory;
  compute += other.compute;
  network += other.network;
  messages += other.messages;
  hidden += other.hidden;
  return *this;
}

PredictedTime step_time(const Step& step, const StepRates& rates) {
  const auto touched = [&](double bytes, double bandwidth) {
    return bytes / rates.processes / bandwidth * rates.imbalance;
  };
  double read = touched(step.read - step.passed, rates.bandwidth);
  if (step.passed > 0) {
    read += touched(step.passed * rates.hits, rates.machine.cache_bandwidth);
    read += touched(step.passed * (1 - rates.hits), rates.machine.bandwidth_of_rows(step.row));
  }
  read += step.gathered * rates.imbalance;
  PredictedTime time;
  time.memory = read + touched(step.written, rates.write_bandwidth);
  time.network = step.sent / rates.processes / rates.machine.network_bandwidth;
  time.compute = std::max(0.0, step.compute * rates.imbalance - read - time.network);
  time.compute += step.starts * rates.machine.loop_latency;
  time.messages = step.rounds * rates.machine.network_latency;
  return time;
}

StepRates rates_of(double held, double processes, const MachineProfile& machine) {
  const double hits = held <= machine.cache_bytes ? 1 : machine.cache_bytes / held;
  const auto rate = [&](double beyond) { return 1 / (hits / machine.cache_bandwidth + (1 - hits) / beyond); };
  return {.machine = machine,
          .processes = processes,
          .bandwidth = rate(machine.memory_bandwidth),
          .write_bandwidth = rate(machine.bandwidth_of_writes()),
          .hits = hits};
}

}  // namespace kasen
