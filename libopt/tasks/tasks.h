// The tasks of a plan's regions of blocks: where and when each one runs, what it touches, and who sends it what. One
// execution of a region is told; all its others are alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen::tasks {

// Bytes that a worker sends for a task.
struct Source {
  int worker = 0;
  std::int64_t bytes = 0;
};

struct TaskRow {
  int task = 0;       // its number in the order of the region's operators
  int number = -1;    // of its operator in the module
  bool adds = false;  // it adds two contributions up
  bool onto = false;  // it makes a contribution and adds it to what is there, in place
  std::string makes;  // "P[0,2]": a block, or a contribution to it
  int worker = 0, node = 0, round = 0;
  std::int64_t made = 0;               // bytes of what it makes
  std::int64_t read = 0, written = 0;  // bytes
  std::int64_t copied = 0;             // of both: between the worker's own boxes and blocks, before the task
  std::vector<Source> from;            // by ascending worker; a block goes to a worker once, for the first task
  [[nodiscard]] std::int64_t received() const;
};

// A block of a result, or a part of it, on the way to the owner of its elements behind the last round.
struct HandedOn {
  std::string block;
  int from = 0, to = 0;  // equal: the owner made it, and copies it
  std::int64_t bytes = 0;
};

struct WorkerLoad {
  int node = 0;
  std::int64_t tasks = 0;
  std::int64_t read = 0, written = 0, sent = 0, received = 0;  // bytes
  std::int64_t blocks = 0;                                     // bytes of blocks that it keeps at a time, at most
  std::int64_t area = 0;                                       // with the messages of a round
};

// What nodes hold, have received and have sent so far: bytes. As the planner counts, a node holds the operands' blocks
// that its workers own, what they received and what they made, and forgets nothing.
struct NodeLoad {
  std::int64_t memory = 0, in = 0, out = 0;
};
struct CurvePoint {
  std::size_t tasks = 0;        // that ran so far
  std::vector<NodeLoad> nodes;  // by node
};

struct RegionTasks {
  int number = -1;  // of the region
  int rounds = 0, nodes = 0;
  std::vector<TaskRow> tasks;  // round by round, in the order of their numbers
  std::vector<HandedOn> handed_on;
  std::vector<WorkerLoad> workers;
  std::vector<CurvePoint> curve;                 // the last point stands behind all, when results are with their owners
  std::int64_t read = 0, written = 0, sent = 0;  // bytes of all workers
  std::int64_t between_nodes = 0;                // of those sent
};

inline constexpr std::size_t most_curve_points = 200;

// Those of a module with sizes and a mesh, in the order of the text. UserError if a region was placed for other sizes.
[[nodiscard]] std::vector<RegionTasks> tasks_of(const Module& sized);

// The module with these sizes if it has regions of blocks and all sizes are known; else nothing.
[[nodiscard]] std::optional<Module> sized_for_tasks(const Module& module, const Sizes& sizes);
[[nodiscard]] bool has_tasks(const Module& module);

}  // namespace kasen::tasks
