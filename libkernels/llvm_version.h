// Of LLVM.
#pragma once

#include "libcore/library_versions.h"

namespace kasen {

[[nodiscard]] LibraryVersions llvm_versions();

}  // namespace kasen
