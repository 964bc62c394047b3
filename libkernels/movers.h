// Packing and unpacking of listed elements, by size alone.
#pragma once

#include <cstdint>
#include <span>

#include "libcore/kernel_set.h"
#include "libkernels/threads.h"

namespace kasen {

void pack_elements(ThreadPool& pool, const ElementType& element, const View& source,
                   std::span<const std::int32_t> indices, std::byte* packed);
void unpack_elements(ThreadPool& pool, const ElementType& element, const View& target,
                     std::span<const std::int32_t> indices, const std::byte* packed);

// Calls body(thread, begin, end) on parts of 0..count, on one thread if there is little to do.
template <class Body>
void in_parts(ThreadPool& pool, std::int64_t count, const Body& body) {
  constexpr std::int64_t little = 16384;
  if (count <= little || pool.threads() == 1) {
    body(0, std::int64_t{0}, count);
    return;
  }
  const std::int64_t threads = pool.threads();
  pool.run([&](int t) { body(t, count * t / threads, count * (t + 1) / threads); });
}

}  // namespace kasen
