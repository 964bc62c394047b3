// How long a plan is expected to take: the one model by which the optimizer compares plans (price.h) and by which times
// are told (times.h). docs/cost.md, "Time", has its rules.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/work.h"
#include "libopt/time/machine.h"

namespace kasen {

// Seconds. Touching bytes and computing overlap, so that the slower of both counts: `compute` is what computing takes
// beyond the bytes' time.
struct PredictedTime {
  double memory = 0;    // bytes read and written, shared by the processes
  double compute = 0;   // and what loops take to start
  double network = 0;   // bytes sent, shared by the processes
  double messages = 0;  // exchanges one after another
  [[nodiscard]] double sum() const { return memory + compute + network + messages; }
  PredictedTime& operator+=(const PredictedTime& other);
};

enum class Exchange : std::uint8_t { none, array, shared };

// What one operator, one region or the copies at the end of one block do in one execution.
struct TimeRow {
  int number = -1;                    // the operator's
  int runs = -1;                      // the operator that is executed as often
  Polynomial model, actual, network;  // bytes: touched as the paper and as this implementation count, and sent
  // Bytes that pass by in order. What a product reads in the order of its entries is work, but for the paper.
  [[nodiscard]] Polynomial streamed(bool paper) const { return paper ? model : actual - work.entry_bytes; }
  Work work;
  Exchange exchange = Exchange::none;
  bool loops = false;  // it starts loops of its own, which takes a moment
};

// What the model needs of a case: numbers for polynomials (nothing: not known), and who computes.
struct TimeCase {
  std::function<std::optional<double>(const Polynomial&)> value;
  MachineProfile machine;
  double workers = 1, processes = 1;
  double imbalance = 1;  // what the slowest process touches and computes over the mean (imbalance.h)
  bool paper = false;    // bytes as the paper counts them
  std::function<double(const TimeRow&)> sent;  // bytes that cross processes in one execution; null: all of `network`
};

class TimeModel {
 public:
  TimeModel(const Module& module, const CostReport& report);

  [[nodiscard]] const std::vector<TimeRow>& rows() const { return rows_; }
  // Bytes that the plan's arrays and matrices take, over all workers: do they stay in the caches?
  [[nodiscard]] const Polynomial& held() const { return held_; }

  // Of everything, each row as often as `runs` says. Nothing where a number is not known.
  [[nodiscard]] std::optional<PredictedTime> time(
      const TimeCase& in, const std::function<std::optional<double>(const TimeRow&)>& runs) const;
  // Of the whole program, and of one turn of a loop of the report.
  [[nodiscard]] std::optional<PredictedTime> program(const CostReport& report, const TimeCase& in) const;
  [[nodiscard]] std::optional<PredictedTime> turn(const LoopCost& loop, const TimeCase& in) const;

 private:
  std::vector<TimeRow> rows_;
  Polynomial held_;
};

// Seconds that computing takes in one process: scalar operations, or the reads of a product, whichever is slower.
[[nodiscard]] std::optional<double> compute_seconds(const Work& work, const TimeCase& in);

// Rounds of messages that a shared's exchange takes among so many processes: ceil(log2).
[[nodiscard]] double rounds_of_tree(double processes);

}  // namespace kasen
