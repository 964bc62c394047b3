// Generated kernels as tests make them: what is the same code is compiled once a process, since most tests prepare a
// plan again for other data, workers and threads.
#pragma once

#include <memory>
#include <utility>

#include "libkernels/kernels.h"
#include "tests/support/folder.h"

namespace kasen::testing {

inline std::unique_ptr<GeneratedKernels> make_kernels(KernelOptions options) {
  static const cases::Folder compiled;
  options.code_cache = compiled.file("code");
  return make_generated_kernels(options);
}

}  // namespace kasen::testing
