#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>

#include "libkernels/make/kernel_maker.h"

namespace kasen {

LibraryVersions llvm_versions() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return {fmt::format("{}.{}.{}", LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_PATCH),
          fmt::format("{}.{}.{}", major, minor, patch)};
}

}  // namespace kasen
