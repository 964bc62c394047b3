// Copies of listed elements, by size alone, and the division of lists among threads.
#pragma once

#include <cstdint>
#include <span>

#include "libcore/kernels/kernel_set.h"
#include "libcore/system/threads.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

// KernelSet::copy_masters.
void copy_listed(ThreadPool& pool, const ElementType& element, std::span<const Mirrored> lists);

// KernelSet::copy_places.
void copy_placed(ThreadPool& pool, const ElementType& element, std::span<const PlaceCopy> copies);

// KernelSet::combine, with the compiled loop of the reducer.
void combine_listed(Workshop& shop, CombineFunction function, const ElementType& element,
                    std::span<const Mirrored> lists);

// So few elements that other threads would come too late.
inline constexpr std::int64_t little_work = 16384;

// Calls body(thread, begin, end) on parts of 0..count, on one thread if there is little to do.
template <class Body>
void in_parts(ThreadPool& pool, std::int64_t count, const Body& body) {
  if (count <= little_work || pool.threads() == 1) {
    body(0, std::int64_t{0}, count);
    return;
  }
  const std::int64_t threads = pool.threads();
  pool.run([&](int t) { body(t, count * t / threads, count * (t + 1) / threads); });
}

}  // namespace kasen
