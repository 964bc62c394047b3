// Generated kernels as tests make them: what is the same code is compiled once a process, since most tests prepare a
// plan again for other data, workers and threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "libkernels/kernels.h"
#include "tests/support/folder.h"

namespace kasen::testing {

// One of the four ways in which lanes can read and write at addresses of their own. Results have the same bits.
inline LaneChoice lanes_of(std::size_t number) {
  const auto access = [](bool together) { return together ? LaneAccess::together : LaneAccess::one_by_one; };
  return {access(number % 2 == 0), access(number / 2 % 2 == 0)};
}

// Unless `options` say how lanes read and write, each call takes another way.
inline std::unique_ptr<GeneratedKernels> make_kernels(KernelOptions options) {
  static const cases::Folder compiled;
  static std::atomic<std::size_t> number = 0;
  if (!options.lanes) options.lanes = lanes_of(number++);
  options.code_cache = compiled.file("code");
  return make_generated_kernels(options);
}

}  // namespace kasen::testing
