// A row_chain region on the interpreter: its products one after another over all rows, with the vector work in between.
// Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/kernels/interpreter_product.h"

namespace kasen::interpreter {

// Values of rows that are made inside have room of their own: in lists of views the rooms stand behind the operands, or
// behind the results, of the region.
struct Chain {
  std::vector<ValueId> rooms;
  std::vector<Product> inner, outer;
  Op vector;  // the vector work as a region iter_on_vec; without results there is none
  std::vector<size_t> vector_inputs, vector_outputs;
  struct Copy {
    size_t room, result;  // places: among the rooms, among the results
  };
  std::vector<Copy> copies;  // rows that are handed on
};

[[nodiscard]] Chain make_chain(const Module& module, const Op& region);

}  // namespace kasen::interpreter
