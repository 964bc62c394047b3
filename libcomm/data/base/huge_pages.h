// Backs large vectors with huge pages. A vector that is filled once and read through then takes a page fault for 2 MiB,
// not for 4 KiB.
#pragma once

#include <cstddef>
#include <vector>

namespace kasen {

// A hint: where the system has no huge pages, nothing changes.
void ask_for_huge_pages(void* data, std::size_t bytes);

template <class T>
void reserve_large(std::vector<T>& list, std::size_t count) {
  list.reserve(count);
  ask_for_huge_pages(list.data(), count * sizeof(T));
}

}  // namespace kasen
