// Dense arrays over several dimensions that are not local are cut along the first of them and whole along the others.
// An operator runs along the dimension by which its array is cut; an operand over another one it reads *whole*: every
// worker holds all of it, in state C over every index (`@cons{all}`).
#pragma once

#include <limits>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// Is the operand distributed, but not cut along the dimension along which the operator runs? Dimensions of map operands
// meet those of the result from the last one backwards, so that a vector over N meets the columns of a square array.
[[nodiscard]] bool reads_whole(const Module& module, const Op& op, size_t operand);
// Does every worker contribute to every element of a distributed result: a reduction over the cut dimension of an
// array that has another one, or mxv with a dense matrix? The result is PR over every index.
[[nodiscard]] bool makes_whole(const Module& module, const Op& op);
// Is some dense array of the program whole along this dimension, because it is cut along one before it? A bundle for
// the program then lists all its indices on every worker.
[[nodiscard]] bool is_whole(const Module& module, DimId dim);
// The values that some operator reads or makes whole (of a region's, what it hands on of them), each once, in order of
// first appearance. Who runs the plan keeps
// room for each of them on every worker, in the order of the whole array.
[[nodiscard]] std::vector<ValueId> whole_values(const Module& module);

// A plan as kernels see it: every dimension but the cut one is local (a local twin takes the place of one that is not),
// and what an operator reads or makes whole is a shared of its own that stands for the plan's value. Operators keep
// their numbers, values theirs.
struct KernelForm {
  Module module;
  std::vector<ValueId> stands_for;                           // by value; no_value: one of the plan's own, or a mark
  ValueId marks_from = std::numeric_limits<ValueId>::max();  // from here on: what nan_watch.h has added

  [[nodiscard]] bool is_mark(ValueId value) const { return value >= marks_from; }
  [[nodiscard]] ValueId original(ValueId value) const {
    const ValueId of = stands_for[static_cast<size_t>(value)];
    return of == no_value ? value : of;
  }
};
[[nodiscard]] KernelForm kernel_form(const Module& module);

}  // namespace kasen
