// What a worker reads and computes of an operator's operands and result, where a plan names layouts. It follows from
// the state rules (mesh_rules.h): an operand that is held along more axes than the operator needs is read at some of
// its indices alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libcore/analysis/boxes.h"

namespace kasen {

struct OpBoxes {
  std::vector<Box> operands;
  Box result;
  // A worker that is not at place 0 along these axes contributes nothing: its result is the reducer's identity. Of a
  // contraction onto an array: it does not take up that array's elements.
  MeshAxes first_only = 0;
  // A map by the pushdown law is computed where elements are owned. Elsewhere the operand of this place is handed on.
  std::ptrdiff_t handed_on = -1;
};

// Of an operator of the groups vector, product, contraction, axis and shared, outside of regions.
[[nodiscard]] OpBoxes op_boxes(const Module& module, const Op& op);

// The box over which a map, a reduction to a single value or a slice runs, if it reads and makes all that the worker
// stores of each of its values. Such operators over one box may run as one loop; nothing for any other operator.
[[nodiscard]] std::optional<Box> loop_box(const Module& module, const Op& op);

}  // namespace kasen
