// Puts the stores and loads of a block's plan into the text of the module.
#pragma once

#include <cstddef>

#include "libcore/ir/module.h"
#include "libopt/swapping/block_graph.h"
#include "libopt/swapping/block_plan.h"

namespace kasen::swapping {

// `block` is of another module with the same operators, of which `module` is a copy. Buffers are to be given anew.
void write_program(Module& module, const BlockGraph& block, const BlockPlan& plan);
// The same for the block of the loop at this place of the program's own block. Arrays that the loop does not need in
// memory are stored before it, and loaded behind it where they are needed again.
void write_loop(Module& module, std::size_t at, const BlockGraph& block, const BlockPlan& plan);

}  // namespace kasen::swapping
