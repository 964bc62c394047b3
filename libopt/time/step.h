// The seconds of one step of a plan: an operator, a region, an exchange or copies, in one execution. This is the one
// place where bytes become seconds: plans are compared, fusion plans are chosen and times are reported by it.
#pragma once

#include "libopt/time/machine.h"

namespace kasen {

// Seconds. Reading and computing overlap, so that the slower of both counts: `compute` is the computing time beyond
// that of the reads.
struct PredictedTime {
  double memory = 0;    // bytes read and written, shared by the processes
  double compute = 0;   // with the time in which loops start
  double network = 0;   // bytes sent, shared by the processes
  double messages = 0;  // exchanges one after another
  double hidden = 0;    // of network and messages: while an exchange is under way, the schedule has other work
  [[nodiscard]] double sum() const { return memory + compute + network + messages - hidden; }
  PredictedTime& operator+=(const PredictedTime& other);
};

// One execution, over all processes; `compute`, `rounds` and `starts` are those of one process.
struct Step {
  double read = 0, written = 0, sent = 0;  // bytes
  double passed = 0, row = 0;              // of those read: a dense matrix, row by row, and bytes of a row
  double compute = 0;                      // seconds
  double gathered = 0;                     // seconds of a product's reads of its vectors, beside the bytes
  double rounds = 0;                       // of messages one after another
  double starts = 0;                       // of loops
};

struct StepRates {
  const MachineProfile& machine;
  double processes = 1;
  double bandwidth = machine.memory_bandwidth;  // bytes of memory a second, of one process
  double write_bandwidth = machine.bandwidth_of_writes();
  double hits = 0;       // the share of the bytes that is in the caches
  double imbalance = 1;  // the slowest process's touching and computing over the mean
};

// Returns writes + max(reads + gathered + network, computing): one operator's term of equation 4 (Boehm et al., VLDB
// 2018, section 4.3). Rounds of messages and starts of loops come on top.
[[nodiscard]] PredictedTime step_time(const Step& step, const StepRates& rates);

// Returns the rates of a process that goes through this number of bytes again and again: the share that fits in the
// caches comes from there, and goes there.
[[nodiscard]] StepRates rates_of(double held, double processes, const MachineProfile& machine);

// Returns the bytes of memory that a process reads in the time in which it sends one.
[[nodiscard]] inline double byte_price(const MachineProfile& machine) {
  return machine.memory_bandwidth / machine.network_bandwidth;
}

}  // namespace kasen
