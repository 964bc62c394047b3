// Swap plans: which tensors leave the faster memory, and when they come back, for a given order and allocation (Huang,
// thesis, section 4.3.2: Belady's strategy within a class, timing edges, two passes).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libopt/swap/classes.h"
#include "libopt/swap/orders.h"
#include "libopt/swap/tasks.h"

namespace kasen::swap {

// A tensor goes to the slower memory ("out"), or comes from there. Positions are places in the order, moves are places
// in SwapPlan::moves, and -1 is none.
struct Move {
  TensorId tensor;
  bool in = false;
  int after_task = -1;   // the position that last uses what lies in the place: the move begins behind it
  int after_move = -1;   // the move out that empties the place
  int content = -1;      // the move out that brought what a move in brings back
  int before_task = -1;  // the position that waits for it; of a move out, the one that needs its place, if one does
  bool stays = false;    // a move out behind which the tensor lies in both memories
};

// A tensor lies in an object of its class, from the first position (or move in) to the last one that uses it there (and
// a move out).
struct Stay {
  TensorId tensor;
  int object = 0;             // within its class
  int first = -1, last = -1;  // positions; first -1: from the beginning; last -1: it is never used there
  int in = -1, out = -1;      // moves
  bool to_end = false;        // it lies there when the iteration ends
};

struct SwapPlan {
  Order order;
  Allocation allocation;
  std::vector<TensorId> residents;  // ascending: in the faster memory when an iteration begins, and again when it ends
  std::vector<Move> moves;          // in the order in which they were planned
  std::vector<std::vector<int>> awaited;  // by position: the moves that end before its task begins
  std::vector<Stay> stays;                // by their beginning
  std::int64_t bytes_in = 0, bytes_out = 0;
};

enum class Victims {
  belady,  // what is needed latest; of what was used last so many tasks ago, if there is such a tensor
  oldest,  // what was used longest ago (LRU)
};

// Where a plan departs from the rules. The so-many-th place that a task asks for: 0 is the usual one. Of free places, 1
// is the one that the other kind takes (what moves in, or what is made), and 2 and more are those of tensors that leave
// although places are free, first of the first one that may. Where no place is free, so many candidates stay.
struct Choice {
  TaskId task;
  int request = 0;
  int value = 0;
  friend auto operator<=>(const Choice&, const Choice&) = default;
};

// Behind that task the tensor is copied to the slower memory, but stays. Then it can leave later without a move.
struct Copy {
  TaskId task;
  TensorId tensor;
  friend auto operator<=>(const Copy&, const Copy&) = default;
};

struct PlanOptions {
  Victims victims = Victims::belady;
  int threshold = 2;            // in tasks
  int reluctance = 0;           // a tensor that leaves with a copy counts as needed so many tasks earlier
  bool once = false;            // one iteration alone: nothing has to be as it was in the beginning
  bool copies_clean = false;    // also moves out what the slower memory still holds (Figure 4.3)
  std::vector<Choice> choices;  // ascending, as the copies
  std::vector<Copy> copies;
  std::vector<TensorId> residents;  // ascending: to begin with, where there are some; else a first pass finds them
  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

// Makes plans of a graph one after another. It keeps the memory that this takes.
class PlanMaker {
 public:
  PlanMaker(const TaskGraph& graph, const Sizes& sizes);
  ~PlanMaker();
  PlanMaker(const PlanMaker&) = delete;
  PlanMaker& operator=(const PlanMaker&) = delete;

  // False: some class has fewer objects than one task needs, and `plan` is not of use.
  [[nodiscard]] bool make(const Order& order, const Allocation& allocation, const PlanOptions& options, SwapPlan& plan);

 private:
  class Planner;
  const TaskGraph& graph_;
  std::unique_ptr<Planner> planner_;
  std::vector<TensorId> residents_, here_, ended_;
};

// The same, for one plan.
[[nodiscard]] bool make_plan(const TaskGraph& graph, const Sizes& sizes, const Order& order,
                             const Allocation& allocation, const PlanOptions& options, SwapPlan& plan);

}  // namespace kasen::swap
