// Orders in which the tasks of a graph can run, one after another ("schedules": Huang, thesis, section 4.4.2).
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "libopt/swap/tasks.h"

namespace kasen::swap {

using Order = std::vector<TaskId>;  // each task once, behind all that are before it
using Random = std::mt19937_64;     // equal seeds draw equal numbers with every library

// A number from 0 to `end` - 1.
[[nodiscard]] inline std::size_t draw(Random& random, std::size_t end) { return random() % end; }
// True with that probability.
[[nodiscard]] inline bool draws(Random& random, double probability) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

[[nodiscard]] bool is_order(const TaskGraph& graph, const Order& order);

[[nodiscard]] Order program_order(const TaskGraph& graph);
// Goes on with the task that became ready last: along branches, not across them.
[[nodiscard]] Order depth_first(const TaskGraph& graph);
// Goes on with the task that became ready first, as frameworks do: across branches.
[[nodiscard]] Order breadth_first(const TaskGraph& graph);
// Of the tasks that are ready, the one behind which the fewest bytes live; the first of equal ones.
[[nodiscard]] Order least_live(const TaskGraph& graph);

// The first `cut` tasks of one, which may have no more, then the others as they stand in the other (section 4.4.2,
// Figure 4.5).
[[nodiscard]] Order crossed(const Order& first, const Order& rest, std::size_t cut);
// Runs tasks as a scheduler does: with that probability one that is ready, drawn at random, else the one of them that
// stands first in the order (section 4.4.2).
[[nodiscard]] Order mutated(const TaskGraph& graph, const Order& order, double probability, Random& random);

}  // namespace kasen::swap
