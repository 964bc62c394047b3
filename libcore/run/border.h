// A run between two turns of an outermost loop: what it holds there is all that the rest of it needs beside the plan,
// the bundle and the parameters. Saved (libcomm/data/checkpoint/checkpoint.h) and given back to another run of the same
// three, on any number of processes, it goes on to the same bits.
//
// Values are held in their cheapest state. Of a partitioned or consistent one the masters alone: slaves are copies,
// which one scatter makes again. Of a pre-reduced one each worker's own contributions, masters and slaves, since
// combined they would be added in another order. Inputs, parameters and generated arrays are made again. Arrays are in
// the data's order: masters by ascending global index, then slaves by owner, then ascending.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

// Where the run is: enough to stop there and resume.
struct Place {
  std::int64_t step = 0;            // operators executed
  std::vector<std::int64_t> turns;  // finished turns of each open loop, outermost first
};

// A border: after `turns` turns of the loop whose preorder number is `loop`.
struct BorderPlace {
  int loop = -1;
  std::int64_t step = 0, turns = 0;
  std::int64_t lo = 0, hi = 0;      // of a for loop: its bounds, evaluated before its first turn
  std::vector<std::int64_t> looks;  // by HeldAtBorder::views: which array of its list each of them shows
};

struct HeldValue {
  ValueId value = no_value;
  std::int64_t arrays = 1;  // of a list
  bool shared = false;      // the same on every worker: that of worker 0 stands for all
  bool slaves = false;      // each worker's slaves stand behind its masters
};

// What the rest of a plan needs at the borders of a loop. A value that `made_again` lists is the result of an operator
// without operands before the loop.
struct HeldAtBorder {
  std::vector<HeldValue> values;    // in the order in which the plan makes them, the loop's arguments last
  std::vector<ValueId> views;       // of lists (`get` without a copy)
  std::vector<ValueId> made_again;  // ascending
};

// `loop` is the preorder number of a loop that no other loop holds; nothing where it is not.
[[nodiscard]] bool is_outermost_loop(const Module& module, int loop);
[[nodiscard]] HeldAtBorder held_at_border(const Module& module, const Liveness& live, int loop);

// A border of a run, for as long as the call lasts that hands it out.
class Border {
 public:
  virtual ~Border() = default;
  [[nodiscard]] virtual const BorderPlace& place() const = 0;
  [[nodiscard]] virtual std::span<const HeldValue> values() const = 0;
  // Elements of one of its arrays that a part of this process saves: none of a shared but on worker 0.
  [[nodiscard]] virtual std::int64_t count(const HeldValue& held, int part) const = 0;
  // A copy of these elements.
  [[nodiscard]] virtual Array read(const HeldValue& held, std::int64_t array, int part) const = 0;
};

// What a run goes on from. `read` gives `count` elements of this type; those of a shared are asked for on every part.
struct ResumePoint {
  BorderPlace place;
  std::function<Array(const HeldValue& held, std::int64_t array, int part, std::int64_t count)> read;
};

}  // namespace kasen
