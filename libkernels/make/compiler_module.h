// What the module with the compiler exports, as the symbol kasen_compiler.
#pragma once

#include <memory>
#include <string_view>

#include "libkernels/make/kernel_maker.h"

namespace kasen {

struct CompilerModule {
  std::string_view built_from;  // the first member in every build; the others only where it is equal
  std::unique_ptr<KernelCompiler> (*make)(const Target& target, const CodeStore& store) = nullptr;
  LibraryVersions (*versions)() = nullptr;
};

}  // namespace kasen
