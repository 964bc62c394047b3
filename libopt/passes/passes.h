// The functions of all passes, each in passes/FUNCTION.cpp. A row of passes.def declares one.
#pragma once

#include "libopt/options/pass.h"

namespace kasen {

#define PASS(function, name, when, from, to, steps, doc, why) \
  bool pass_##function(Module& module, PassContext& context);
#include "libopt/passes/passes.def"
#undef PASS

}  // namespace kasen
