// The version of LLVM.
#pragma once

#include "libcore/base/library_versions.h"

namespace kasen {

[[nodiscard]] LibraryVersions llvm_versions();

}  // namespace kasen
