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

// Ways of all choices, by the bits of a number. Results have the same bits.
inline Ways ways_of(std::size_t number) {
  Ways ways;
  for (std::size_t k = 0; k < ways.values.size(); ++k)
    ways.values.at(k) = (number >> k) % 2 == 0 ? Way::first : Way::second;
  return ways;
}

// Unless `options` say which ways kernels take, each call takes others: neighbours in this order differ in many.
inline std::unique_ptr<GeneratedKernels> make_kernels(KernelOptions options) {
  static const cases::Folder compiled;
  static std::atomic<std::size_t> number = 0;
  constexpr std::size_t stride = 37;
  if (!options.ways) options.ways = ways_of(stride * number++);
  options.code_cache = compiled.file("code");
  return make_generated_kernels(options);
}

}  // namespace kasen::testing
