/// \file
/// A plan that names layouts, as the kernels of one worker see it: every array is an array of local dimensions, whose
/// sizes are those of the worker's boxes (boxes.h). All workers have the same operators and values; only sizes differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/whole.h"

namespace kasen {

/// A value that represents some elements of a value of the plan: the elements that an operator reads, where the worker
/// holds more, or those that it computes.
struct BoxStandIn {
  ValueId of = no_value;
  Box box;
  /// Its axes have another order: for each axis of `of`, the axis of the box that it meets. Two axes of `of` may meet
  /// one (a diagonal), and the elements are repeated along those of the box that meet none.
  bool arranged = false;
  std::vector<std::size_t> meets;
  /// The memory of this value, of `form` or the plan, under other dimensions: kernels take it as a matrix.
  ValueId memory = no_value;
  bool made = false;             ///< it is a result. Then the other elements of `of` on the worker are:
  MeshAxes first_only = 0;       ///< all, if the worker is not at place 0 along these axes
  ValueId handed_on = no_value;  ///< a copy of this operand's, or
  FnId reducer = no_fn;          ///< this reducer's identity
};

struct BoxForm {
  KernelForm form;
  ValueId stand_ins_from;                  ///< the first value behind the plan's
  std::vector<BoxStandIn> stand_ins;       ///< of the values of `form` from there on
  IdMap<BufferId, std::int64_t> elements;  ///< of each buffer
  std::map<int, std::int64_t> batches;     ///< of contractions that are products, by their preorder numbers
  /// Of contractions onto an array, which are products with three operands: the axes along which workers at place 0
  /// alone take up its elements. The others begin at the reducer's identity.
  std::map<int, MeshAxes> first_only;

  [[nodiscard]] const BoxStandIn* stand_in(ValueId value) const {
    const std::ptrdiff_t place = value - stand_ins_from;
    return place < 0 || place >= std::ssize(stand_ins) ? nullptr : &stand_ins[static_cast<std::size_t>(place)];
  }
  /// The value whose memory it is: itself, unless it is another form of one.
  [[nodiscard]] ValueId memory_of(ValueId value) const {
    const BoxStandIn* known = stand_in(value);
    return known == nullptr || known->memory == no_value ? value : known->memory;
  }
};

/// `module` has sizes, and a mesh of as many workers as run it. Throws UserError (bad_input) for a construct that runs
/// in the default layout alone: sparse and compressed matrices, regions of products.
[[nodiscard]] BoxForm box_form(const Module& module, int worker);

}  // namespace kasen
