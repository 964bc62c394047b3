/// \file
/// A run between two iterations of an outermost loop, or behind an operator of the program's own block. The values that
/// it holds there are all that the rest of the run needs beside the plan, the bundle and the parameters. They can be
/// saved (libcomm/data/checkpoint/checkpoint.h). Another run of the same three resumes from them, on any number of
/// processes, with the same bits.
///
/// Values are held in their cheapest state. For partitioned or consistent ones these are only the owned elements:
/// ghosts are copies, which one scatter makes again. For pre-reduced ones they are each worker's own contributions,
/// owned and ghost elements, since combining them would add them in another order. Inputs, parameters and generated
/// arrays are made again. Arrays are in the data's order: owned elements by ascending global index, then ghosts by
/// owner, then ascending.
///
/// Of a plan that names layouts, these are the elements of boxes (libcore/analysis/boxes.h) in the order of the whole
/// array: saved_elements of each worker, and needed_elements when a run resumes, which others may have saved.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/liveness.h"
#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

/// The position of the run: enough to stop there and resume.
struct Place {
  std::int64_t step = 0;                 ///< operators executed
  std::vector<std::int64_t> iterations;  ///< finished iterations of each open loop, outermost first
  LineRows rows = LineRows::all;         ///< of the operator that runs
};

/// A border: after `iterations` iterations of the loop whose preorder number is `op`; or behind the operator `op`.
struct BorderPlace {
  int op = -1;
  bool behind = false;
  std::int64_t step = 0, iterations = 0;
  std::int64_t lo = 0, hi = 0;      ///< of a for loop: its bounds, evaluated before its first iteration
  std::vector<std::int64_t> looks;  ///< by HeldAtBorder::views: the array of its list that each of them shows
};

struct HeldValue {
  ValueId value = no_value;
  std::int64_t arrays = 1;  ///< of a list
  bool shared = false;      ///< the same on every worker: worker 0's copy represents all
  bool slaves = false;      ///< each worker's ghosts follow its owned elements
};

/// The values that the rest of a plan needs at a border. Those in `made_again` are results of operators without
/// operands before it, and of scatters and relayouts of such arrays. These operators run again.
struct HeldAtBorder {
  std::vector<HeldValue> values;    ///< in the order in which the plan makes them, a loop's arguments last
  std::vector<ValueId> views;       ///< of lists (`get` without a copy)
  std::vector<ValueId> made_again;  ///< ascending
};

/// `loop` is the preorder number of a loop. True if no other loop holds it.
[[nodiscard]] bool is_outermost_loop(const Module& module, int loop);
/// The preorder numbers of the operators behind which a run can stop, ascending: operators of the program's own block
/// that compute arrays, where the schedule has begun no later one and no exchange is under way.
[[nodiscard]] std::vector<int> borders_behind(const Module& scheduled);
[[nodiscard]] HeldAtBorder held_at_border(const Module& module, const Liveness& live, int op, bool behind);

/// Of a plan that names layouts, with sizes: what a worker saves of a value of this type, and what it has to have
/// again.
[[nodiscard]] Elements saved_elements(const Module& module, const Type& type, int worker);
[[nodiscard]] Elements needed_elements(const Module& module, const Type& type, int worker);

/// A border of a run, valid during the call that hands it out.
class Border {
 public:
  virtual ~Border() = default;
  [[nodiscard]] virtual const BorderPlace& place() const = 0;
  [[nodiscard]] virtual std::span<const HeldValue> values() const = 0;
  /// The number of elements of one of its arrays that a part of this process saves; 0 for a shared, except on worker 0.
  [[nodiscard]] virtual std::int64_t count(const HeldValue& held, int part) const = 0;
  /// A copy of these elements.
  [[nodiscard]] virtual Array read(const HeldValue& held, std::int64_t array, int part) const = 0;
};

/// The state from which a run resumes. `read` gives `count` elements of this type; also for shareds on every part.
struct ResumePoint {
  BorderPlace place;
  std::function<Array(const HeldValue& held, std::int64_t array, int part, std::int64_t count)> read;
};

}  // namespace kasen
