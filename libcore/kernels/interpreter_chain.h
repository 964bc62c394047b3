// A row_chain region on the interpreter: its products run one after another over all rows, with the vector work in
// between. Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/kernels/interpreter_product.h"

namespace kasen::interpreter {

// Values of rows that are made inside have buffers of their own (`rooms`). In lists of views these follow the operands,
// or the results, of the region.
struct Chain {
  std::vector<ValueId> rooms;
  std::vector<Product> inner, outer;
  Op vector;  // the vector work as a region iter_on_vec; without results there is none
  std::vector<size_t> vector_inputs, vector_outputs;
  struct Copy {
    size_t room, result;  // indices in `rooms` and in the results
  };
  std::vector<Copy> copies;  // rows that are handed on
};

[[nodiscard]] Chain make_chain(const Module& module, const Op& region);

}  // namespace kasen::interpreter
