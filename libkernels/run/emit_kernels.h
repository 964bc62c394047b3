// A plan's generated code, to read or to link elsewhere.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libkernels/run/kernel_options.h"

namespace kasen {

struct EmittedKernels {
  std::string assembly, object;  // the object: a relocatable ELF file
};

// For options.target, which need not be a processor that this one is. UserError as for make_generated_kernels.
[[nodiscard]] EmittedKernels emit_kernels(const Module& module, const KernelOptions& options);

}  // namespace kasen
