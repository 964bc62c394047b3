/// \file
/// Dense arrays over several dimensions that are not local are cut along the first of them and whole along the others.
/// An operator runs along the dimension by which its array is cut. It reads an operand over another dimension *whole*:
/// every worker holds all of it, in state C over every index (`@cons{all}`).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

/// The axis of `outer` that each axis of `inner` meets; no_axis: none. Both are matched from the last one backwards: a
/// vector over N meets the columns of a square array.
[[nodiscard]] std::vector<std::ptrdiff_t> met_axes(const std::vector<DimId>& outer, const std::vector<DimId>& inner);
/// True if the operand is distributed, but not cut along the dimension along which the operator runs. Dimensions of map
/// operands meet those of the result (met_axes).
[[nodiscard]] bool reads_whole(const Module& module, const Op& op, size_t operand);
/// True if every worker contributes to every element of a distributed result. This holds for a reduction over the cut
/// dimension of an array that has another one, and for mxv with a dense matrix. The result is PR over every index.
[[nodiscard]] bool makes_whole(const Module& module, const Op& op);
/// True if some dense array of the program is whole along this dimension, because an earlier dimension of it is cut. A
/// bundle for the program then lists all indices of the dimension on every worker.
[[nodiscard]] bool is_whole(const Module& module, DimId dim);
/// The values that some operator reads or makes whole, each once, in order of first appearance. Of the values inside a
/// region, only its results are listed. The executor keeps memory for each of them on every worker, in the order of the
/// whole array.
[[nodiscard]] std::vector<ValueId> whole_values(const Module& module);

/// A plan as kernels see it. Every dimension but the cut one is local; a local twin replaces each one that is not. A
/// value that an operator reads or makes whole becomes a shared of its own, which stands for the plan's value.
/// Operators and values keep their numbers.
struct KernelForm {
  Module module;
  IdMap<ValueId, ValueId> stands_for;                   ///< by value; no_value: the plan's own value, or a mark
  ValueId marks_from{std::numeric_limits<int>::max()};  ///< the first value that nan_watch.h has added

  [[nodiscard]] bool is_mark(ValueId value) const { return value >= marks_from; }
  [[nodiscard]] ValueId original(ValueId value) const {
    const ValueId of = stands_for[value];
    return of == no_value ? value : of;
  }
};
[[nodiscard]] KernelForm kernel_form(const Module& module);

}  // namespace kasen
