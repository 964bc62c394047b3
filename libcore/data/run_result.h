// The results of a run: outputs, and the counters of operators, parts and messages. Executor, reports and result files
// share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/types.h"
#include "libcore/data/data.h"

namespace kasen {

// Counted since construction. Payload bytes only.
struct Traffic {
  std::int64_t worker_bytes = 0;   // between two workers, wherever they are (sent by workers of this process)
  std::int64_t rank_bytes = 0;     // of these, what crossed ranks
  std::int64_t rank_messages = 0;  // messages that crossed ranks

  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.worker_bytes - b.worker_bytes, a.rank_bytes - b.rank_bytes, a.rank_messages - b.rank_messages};
  }
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

// Memory of one part, in bytes. storage_bytes is that of libcore/data/data.h.
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

// An output of a run, compared with the same program interpreted (reference/recompute.h).
struct VerifiedOutput {
  std::string output;
  std::int64_t elements = 0, recomputed = 0, differing = 0;
  double largest = 0;        // OutputComparison
  bool by_rounding = false;  // more than the tolerance, but not more than rounding explains
  std::string not_verified;  // why; empty: it was
};

}  // namespace kasen
