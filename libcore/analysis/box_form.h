/// \file
/// A plan that names layouts, as the kernels of one worker see it: every array is an array of local dimensions, whose
/// sizes are those of the worker's boxes (boxes.h). All workers have the same operators and values; only sizes differ.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/whole.h"

namespace kasen {

/// A value that represents some elements of a value of the plan: the elements that an operator reads, where the worker
/// holds more, or those that it computes.
struct BoxStandIn {
  ValueId of = no_value;
  Box box;
  bool made = false;             ///< it is a result. Then the other elements of `of` on the worker are:
  MeshAxes first_only = 0;       ///< all, if the worker is not at place 0 along these axes
  ValueId handed_on = no_value;  ///< a copy of this operand's, or
  FnId reducer = no_fn;          ///< this reducer's identity
};

struct BoxForm {
  KernelForm form;
  std::vector<BoxStandIn> stand_ins;       ///< of the values of `form` behind the plan's
  IdMap<BufferId, std::int64_t> elements;  ///< of each buffer
};

/// `module` has sizes, and a mesh of as many workers as run it. Throws UserError (bad_input) for a construct that runs
/// in the default layout alone: sparse and compressed matrices, regions.
[[nodiscard]] BoxForm box_form(const Module& module, int worker);

}  // namespace kasen
