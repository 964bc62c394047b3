// Runs a plan on the parts of this process: one loop over the operators, two interfaces (Transport, KernelSet), no
// coordinator. Any level runs: values without a buffer get one of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/border.h"
#include "libcore/data.h"
#include "libcore/kernel_set.h"
#include "libcore/module.h"
#include "libcore/numbering.h"
#include "libcore/transport.h"

namespace kasen {

// One finished turn of an outermost loop. `change` is the first float shared carried or tested by the loop (NaN: none).
struct Turn {
  Place place;
  double change = 0;
  double seconds = 0;  // since the run began
};

// What a run tells its observer of: a step, a turn of a loop, and within a transition the start and the finish of its
// exchange (a product may start the gather of its result).
enum class RunPhase : std::uint8_t { step, turn, start, finish };

struct OpCount;

// Watches a run as it happens. Calls nest, and come from the thread that runs the plan. `count` is that of operator
// `number` so far: what was done meanwhile is the difference.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void began(RunPhase phase, int number, const Place& place, const OpCount& count) = 0;
  virtual void ended(RunPhase phase, int number, const OpCount& count) = 0;
};

struct RunOptions {
  std::map<std::string, std::vector<Word>> params;  // by name; missing ones take the program's default
  std::function<void(const Turn&)> on_turn;         // progress; may throw to stop
  std::int64_t memory = 0;  // bytes that this process may take, its data among them; 0: what the system has left
  // Adds up numbers over the processes of this machine, where there are others; all of them call it once, before the
  // first step.
  std::function<void(std::span<std::int64_t>)> sum_on_machine;
  bool refuse_nan = false;  // UserError(check_failed) where the first NaN was made: reads all that is made once more
  // After each turn of an outermost loop, on every process; may throw to stop. Not called: nothing is looked at.
  std::function<void(const Border&)> on_border;
  const ResumePoint* resume = nullptr;           // goes on from there; not owned
  RunObserver* observer = nullptr;               // not owned
  WithinGroups masters = WithinGroups::ordered;  // the order of masters; results have the same bits in any
  // Called before the first step for each sparse matrix that products use, of each part (its place among `parts`), once
  // it is in the forms that they use: its entries are not looked at again, and a caller short of memory frees them.
  std::function<void(size_t part, const std::string& matrix)> on_formed;
};

// Counters of one operator (in preorder over the module, regions as one), summed over its executions on this process;
// of a run that goes on from a border, what it did itself, but for the slaves that it sends to have its values back.
struct OpCount {
  std::int64_t executions = 0;
  std::int64_t read_bytes = 0, written_bytes = 0;  // actual column: element traffic of kernels
  std::int64_t network_bytes = 0;                  // between workers, sent from this process
  std::int64_t turns = 0;                          // loops only: total trips
  double seconds = 0;
};

// Memory of one part, in bytes. storage_bytes is that of libcore/data.h.
struct PartCount {
  int worker = 0;
  // The pool: for each BufferDecl storage_bytes of (masters + slaves of the largest of `holds`) * inner elements (a
  // shared's: inner). Distributed values without a buffer (levels 1 and 2) have the like of their own, an array of a
  // list each; shareds without one are not counted.
  std::int64_t buffer_bytes = 0;
  // One packing area, used by every transition: the largest over all gathers and scatters of mirrors of the set * inner
  // * element bytes (what the part sends or receives for its masters), where an element has several planes of mirrors
  // and slaves; for a batch of shareds twice the sum of inner * element bytes if there are several workers.
  std::int64_t exchange_bytes = 0;
  // LocalMatrix::storage_bytes of each distinct (matrix, direction, set of the operand, set of the result).
  std::int64_t matrix_bytes = 0;
  std::int64_t input_bytes = 0;  // storage_bytes of the dense inputs
};

struct OutputPart {
  int worker = 0;
  Array data;  // masters in ascending global order (whole for shareds)
};

struct Output {
  std::string name;
  Type type;
  std::vector<OutputPart> parts;
};

struct RunResult {
  std::vector<Output> outputs;
  std::vector<OpCount> ops;  // by preorder number
  std::vector<PartCount> parts;
  Traffic traffic;
  std::int64_t kernel_bytes = 0;      // KernelSet::held_bytes at the end, all parts of this process
  std::int64_t late_allocations = 0;  // buffers allocated in a loop after its first turn (0 for a level 3 plan)
  double seconds = 0;
};

// `parts` are those of the transport's local workers, in order. Throws UserError when the bundle lacks what the plan
// asks for, or a parameter is unknown. Works on a copy of `module` in which the data's sizes stand for those that the
// program leaves open: `kernels.prepare` and every call receive that copy (inner_size holds there), which dies with
// the run.
[[nodiscard]] RunResult execute(const Module& module, const std::vector<Part>& parts, Transport& transport,
                                KernelSet& kernels, const RunOptions& options);

// Preorder over all operators (a region's inner operators come after it, too).
void for_each_op(const Module& module, const std::function<void(const Op& op, int number, int depth)>& visit);

}  // namespace kasen
