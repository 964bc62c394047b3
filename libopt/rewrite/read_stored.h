// An array that is stored in a list and read afterwards is read from the list. That is a view, while the array itself
// would have to be copied to its position.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

void read_stored(Module& module);

}  // namespace kasen
