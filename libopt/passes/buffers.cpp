// Why: a plan that names its storage allocates it once, before the first iteration of a loop, and states its size
// beforehand. Values whose lives do not meet share a buffer. The naive way fails at a carried value: every iteration
// copies a vector unless the yielded value is written where its argument lives, or can be exchanged with it. So
// transitions work in place first, where they can (one that cannot copies its owned elements each time). Then values
// that bindings join get one buffer, inner loops before outer ones, and the rest is coloured greedily. If a binding
// could move storage between two buffers, they are made equal in size so that it may. Requires placed values; gives
// level 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/assign_buffers.h"

namespace kasen {

bool pass_buffers(Module& module, PassContext& /*context*/) { return assign_buffers(module, BufferChoice::first_fit); }

}  // namespace kasen
