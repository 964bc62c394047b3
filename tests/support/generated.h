// Generated kernels as tests make them: what is the same code is compiled once a process, since most tests prepare a
// plan again for other data, workers and threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "libcore/system/level.h"
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

// The levels of processors that this one can run code for, without its own.
inline const std::vector<Level>& levels_here() {
  static const std::vector<Level> here = [] {
    std::vector<Level> some;
    for (const auto& [name, level] : levels) {
      if (level != Level::native && lacking(level).empty()) some.push_back(level);
    }
    return some;
  }();
  return here;
}

// How kernels are made without an effect on results: ways of all choices and, every other time, another level.
inline KernelOptions made_as(std::size_t number, KernelOptions options) {
  const auto& others = levels_here();
  if (options.ways) return options;
  options.ways = ways_of(number / 2);
  if (number % 2 == 1 && options.target == Level::native && !others.empty())
    options.target = others[number / 2 % others.size()];
  return options;
}

// Unless `options` say how, each call makes them another way: neighbours in this order differ in many.
inline std::unique_ptr<GeneratedKernels> make_kernels(const KernelOptions& given) {
  static const cases::Folder compiled;
  static std::atomic<std::size_t> number = 0;
  constexpr std::size_t stride = 37;
  KernelOptions options = made_as(stride * number++, given);
  options.code_cache = compiled.file("code");
  return make_generated_kernels(options);
}

}  // namespace kasen::testing
