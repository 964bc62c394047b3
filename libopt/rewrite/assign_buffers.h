// Gives values their buffers (pass buffers).
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

enum class BufferChoice {
  first_fit,         // the first one that is free
  away_from_stores,  // that from which something is stored the longest ago, of as many: who writes there does not wait
};

// Assigns all buffers anew. The module has level 3 then. True if anything is different.
[[nodiscard]] bool assign_buffers(Module& module, BufferChoice choice);

}  // namespace kasen
