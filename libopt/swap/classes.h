// Memory as pools of equal objects ("size classes": Huang, thesis, section 4.4.3). The different sizes of a graph's
// tensors stand in ascending order; neighbouring ones share a class. A class has as many objects as `counts` says, each
// as large as the largest of its sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libopt/swap/orders.h"
#include "libopt/swap/tasks.h"

namespace kasen::swap {

// The different sizes, ascending, and the place among them of each tensor's.
class Sizes {
 public:
  explicit Sizes(const TaskGraph& graph);
  [[nodiscard]] std::size_t count() const { return bytes_.size(); }
  [[nodiscard]] std::int64_t bytes(std::size_t size) const { return bytes_[size]; }
  [[nodiscard]] std::size_t of(TensorId tensor) const { return of_[tensor]; }

 private:
  std::vector<std::int64_t> bytes_;
  IdMap<TensorId, std::size_t> of_;
};

// The class of each size: 0 first, each one the class of the size before or the next (section 4.4.3). Only the search
// "any class" has others: any numbers from 0 on, each of which some size has.
using Classes = std::vector<int>;
using Counts = std::vector<std::int64_t>;  // the objects of each class

struct Allocation {
  Classes classes;
  Counts counts;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

[[nodiscard]] std::size_t number_of(const Classes& classes);
[[nodiscard]] std::vector<std::int64_t> object_bytes(const Sizes& sizes, const Classes& classes);  // by class
[[nodiscard]] std::int64_t memory(const Sizes& sizes, const Allocation& allocation);
// The objects of each class without which some task cannot run.
[[nodiscard]] Counts least_counts(const TaskGraph& graph, const Sizes& sizes, const Classes& classes);
// The objects of each class with which the order runs without a swap.
[[nodiscard]] Counts most_counts(const TaskGraph& graph, const Sizes& sizes, const Classes& classes,
                                 const Order& order);

// The allocation with which all tasks can run that takes the fewest bytes: nothing runs in less.
[[nodiscard]] Allocation least_allocation(const TaskGraph& graph, const Sizes& sizes);

// Raises elements by the least that makes them classes.
[[nodiscard]] Classes repaired(Classes classes);
// Each class that has more than the least gives up equally many bytes, rounded up to objects, until all fit (SYSTEMS
// item 23 makes the thesis's words precise). False: the least do not fit.
[[nodiscard]] bool fit(const Sizes& sizes, Allocation& allocation, const Counts& least, std::int64_t capacity);
// Gives what memory is left to classes with less than the most objects, those of the largest objects first.
void fill(const Sizes& sizes, Allocation& allocation, const Counts& most, std::int64_t capacity);

// The classes in order of their first sizes, numbered anew. For those of "any class".
[[nodiscard]] Classes renumbered(const Classes& classes);

// The first `cut` sizes as the one, the others as the other has them, repaired.
[[nodiscard]] Classes crossed(const Classes& first, const Classes& rest, std::size_t cut);
// Counts for `classes`: each class has the mean of what its sizes have in the parents, the first `cut` in the one.
[[nodiscard]] Counts crossed(const Allocation& first, const Allocation& rest, std::size_t cut, const Classes& classes);
// With that probability, a size begins a new class where it shared one, or joins the class before.
[[nodiscard]] Classes mutated(Classes classes, double probability, Random& random);
// With that probability, another count near the old one: of a normal distribution around it, half as wide.
[[nodiscard]] Counts mutated(Counts counts, double probability, Random& random);

}  // namespace kasen::swap
