// The results of a run: outputs, and counters for operators, parts and messages. Executor, reports and result files
// share them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/types.h"
#include "libcore/data/data.h"

namespace kasen {

// Counters since construction. They count payload bytes only.
struct Traffic {
  std::int64_t worker_bytes = 0;   // between any two workers (sent by workers of this process)
  std::int64_t rank_bytes = 0;     // the part of these that crossed ranks
  std::int64_t rank_messages = 0;  // messages that crossed ranks
  std::int64_t node_bytes = 0;     // the part of worker_bytes that crossed nodes, if the plan's mesh names these

  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.worker_bytes - b.worker_bytes, a.rank_bytes - b.rank_bytes, a.rank_messages - b.rank_messages,
            a.node_bytes - b.node_bytes};
  }
};

// Counters of one operator (in preorder over the module, a region as one), summed over its executions on this process.
// A resumed run counts only its own work, without the ghosts that it sends to restore its values.
struct OpCount {
  std::int64_t executions = 0;
  std::int64_t read_bytes = 0, written_bytes = 0;  // actual column: element traffic of kernels
  std::int64_t network_bytes = 0;                  // between workers, sent by this process
  std::int64_t iterations = 0;                     // loops only: total iterations
  // Sorts across workers and picks that send elements straight, where data decide what moves: elements that went to
  // other workers, their bytes that crossed ranks, the messages in which these went, and the bytes that crossed nodes.
  std::int64_t moved_elements = 0, moved_rank_bytes = 0, moved_rank_messages = 0, moved_node_bytes = 0;
  // Read from a disk and written to it, of arrays that are not in memory as a whole.
  std::int64_t disk_read_bytes = 0, disk_written_bytes = 0;
  double seconds = 0;
};

// A line of the schedule (libcore/schedule/schedule.h), in the order of for_each_line.
struct LineTime {
  std::int64_t executions = 0;
  double seconds = 0;
};

// Memory of one part, in bytes. storage_bytes is that of libcore/data/data.h.
struct PartCount {
  int worker = 0;
  // The pool. Each BufferDecl takes storage_bytes of (owned + ghost elements of the largest of `holds`) * inner
  // elements (a shared's: inner). Distributed values without a buffer (levels 1 and 2) take the same, each array of a
  // list apart. Shareds without a buffer are not counted.
  std::int64_t buffer_bytes = 0;
  // One packing area for all transitions. It is the maximum over all gathers and scatters of mirrors of the set * inner
  // * element bytes (sent or received for the part's owned elements). Mirrors that lie one behind the other are sent
  // from there and take nothing (mirrors_in_place). For elements with several planes, mirrors and ghosts count. A batch
  // of shareds takes twice the sum of inner * element bytes if there are several workers.
  std::int64_t exchange_bytes = 0;
  // LocalMatrix::storage_bytes of each distinct (matrix, direction, set of the operand, set of the result). Of matrices
  // on a disk without the nonzeros, which are among input_bytes.
  std::int64_t matrix_bytes = 0;
  // storage_bytes of the dense inputs; of inputs that stay on a disk the rows that are kept in memory, and the window
  // through which the others go by (libcore/stream/residency.h).
  std::int64_t input_bytes = 0;
  // list_bytes of the part and of its Numbering: the indices of owned elements, ghosts and mirrors. -1: not known.
  std::int64_t list_bytes = -1;
  // What the worker sent to others, and received from them. -1: not known.
  std::int64_t sent_bytes = -1, received_bytes = -1;

  [[nodiscard]] std::int64_t held() const {
    return buffer_bytes + exchange_bytes + matrix_bytes + input_bytes + std::max<std::int64_t>(list_bytes, 0);
  }
};

struct OutputPart {
  int worker = 0;
  Array data;  // owned elements in ascending global order (whole for shareds)
};

struct Output {
  std::string name;
  Type type;
  std::vector<OutputPart> parts;
};

// A dimension whose size the run found (libcore/ir/observed.h), or that is derived from one.
struct ObservedSize {
  std::string dim;
  std::int64_t size = 0;
};

struct RunResult {
  std::vector<Output> outputs;
  std::vector<ObservedSize> observed;
  std::vector<OpCount> ops;     // by preorder number
  std::vector<LineTime> lines;  // of the schedule
  std::vector<PartCount> parts;
  Traffic traffic;
  std::int64_t kernel_bytes = 0;      // KernelSet::held_bytes at the end, for all parts of this process
  std::int64_t late_allocations = 0;  // buffers allocated in a loop after its first iteration (0 for a level 3 plan)
  double seconds = 0;
};

// An output of a run and its comparison with the same program interpreted (reference/recompute.h).
struct VerifiedOutput {
  std::string output;
  std::int64_t elements = 0, recomputed = 0, differing = 0;
  double largest = 0;        // OutputComparison
  bool by_rounding = false;  // above the tolerance, but within what rounding explains
  std::string not_verified;  // the reason; empty if it was verified
};

}  // namespace kasen
