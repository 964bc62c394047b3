// The expected time of a plan, as the sum of its steps (step.h): the one model by which the optimizer compares plans
// (price.h) and reports predict times (times.h). Section "Time" of docs/cost.md has its rules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/work.h"
#include "libopt/time/step.h"

namespace kasen {

enum class Exchange : std::uint8_t { none, array, shared, carries };
enum class TimePart : std::uint8_t { work, exchange, ends };  // ends: the copies at the ends of its blocks

struct TouchedBytes {
  Polynomial read, written;
};

// The work of one operator, one region, its exchange or the copies at the end of one block, in one execution.
struct TimeRow {
  int number = -1;  // the operator's number
  int runs = -1;    // the operator that is executed as often
  TimePart part = TimePart::work;
  TouchedBytes model, actual;  // as the paper and as this implementation count
  Polynomial passed, row;      // of the bytes read: a dense matrix, row by row, and a row's bytes
  Polynomial columns;          // of the products with that matrix: of the first that has several
  Polynomial network;          // bytes sent
  // Returns the bytes that it streams. A product's reads in the order of its nonzeros are work, but not for the paper.
  [[nodiscard]] TouchedBytes streamed(bool paper) const {
    return paper ? model : TouchedBytes{actual.read - work.entry_bytes, actual.written};
  }
  Work work;
  Exchange exchange = Exchange::none;
  Polynomial paired;    // the bytes of a batch of shareds that may travel in slices
  Polynomial places;    // of carries: the workers along which they go, one after another
  bool loops = false;   // it starts loops of its own, which takes time
  bool blocks = false;  // a region of blocks with its exchanges; where its rounds are known, they say its time
};

// The model's inputs for a case: numbers for polynomials (nothing: not known), and the processes that compute.
struct TimeCase {
  std::function<std::optional<double>(const Polynomial&)> value;
  MachineProfile machine;
  double workers = 1, processes = 1;
  double imbalance = 1;  // the slowest process's touching and computing over the mean (imbalance.h)
  bool paper = false;    // bytes as the paper counts them
  // What reports take into account: work that hides an exchange, the rate of passes over rows, columns in whole
  // vectors, how far apart a product's reads are, and that they wait for the matrix. Plans are compared without: a
  // bound of their prices for all sizes (never_dearer) adds up.
  bool refined = false;
  std::function<double(const SlaveAtom&)> reach;  // a share of the vector's bytes (cost/reach.h); null: all of them
  std::function<double(const TimeRow&)> sent;     // bytes that cross processes in one execution; null: all of `network`
};

class KnownBlockRounds;
struct BlockRoundTime;

// The module has to stay alive.
class TimeModel {
 public:
  TimeModel(const Module& module, const CostReport& report);

  [[nodiscard]] const std::vector<TimeRow>& rows() const { return rows_; }
  // Returns the bytes of the plan's arrays and matrices, over all workers. They decide whether these stay in caches.
  [[nodiscard]] const Polynomial& held() const { return held_; }

  // Returns the time of all rows, each as often as `runs` says, or nothing if a number is not known.
  [[nodiscard]] std::optional<PredictedTime> time(
      const TimeCase& in, const std::function<std::optional<double>(const TimeRow&)>& runs) const;
  // Returns the time of one execution of a part of an operator. Nothing hides its exchange.
  [[nodiscard]] std::optional<PredictedTime> once(int number, TimePart part, const TimeCase& in) const;
  // The same at rates that another plan has, of which this is a part.
  [[nodiscard]] std::optional<PredictedTime> once(int number, TimePart part, const TimeCase& in,
                                                  const StepRates& rates) const;
  // Returns the rounds of a region of blocks in one execution (block_rounds.h); none if they are not known.
  [[nodiscard]] std::vector<BlockRoundTime> block_rounds(int number, const TimeCase& in) const;
  // Return the time of the whole program, and of one iteration of a loop of the report. Refined, a program touches its
  // buffers for the first time.
  [[nodiscard]] std::optional<PredictedTime> program(const CostReport& report, const TimeCase& in) const;
  [[nodiscard]] std::optional<PredictedTime> iteration(const LoopCost& loop, const TimeCase& in) const;

 private:
  using Runs = std::function<std::optional<double>(const TimeRow&)>;
  [[nodiscard]] StepRates rates(const TimeCase& in) const;
  [[nodiscard]] std::span<const TimeRow> rows_of(int number) const;
  [[nodiscard]] std::optional<double> hidden(const TimeCase& in, const Runs& runs) const;
  [[nodiscard]] std::vector<BlockRoundTime> block_rounds(int number, const TimeCase& in, const StepRates& rates) const;
  [[nodiscard]] std::optional<PredictedTime> time_of(const TimeRow& row, const TimeCase& in,
                                                     const StepRates& rates) const;

  const Module* module_;
  std::vector<TimeRow> rows_;  // by number
  Polynomial held_, buffers_;
  std::shared_ptr<KnownBlockRounds> known_rounds_;
};

// The computing of one process, in seconds: scalar operations, or the reads of a product's vectors where these take
// longer. Refined, these are apart: they come through the same buffers as the matrix, and wait for it.
struct Computing {
  double seconds = 0, gathered = 0;
};
// Terms of dense products take `padding` times theirs. Nothing if a number is not known.
[[nodiscard]] std::optional<Computing> computing(const Work& work, const TimeCase& in, double padding = 1);

// Returns the rounds of messages that a shared's exchange takes among this number of processes: ceil(log2).
[[nodiscard]] double rounds_of_tree(double processes);

}  // namespace kasen
