// Room of large vectors from huge pages: what is filled once and read through takes a page fault for 2 MiB, not for
// 4 KiB.
#pragma once

#include <cstddef>
#include <vector>

namespace kasen {

// A wish: where the system has no huge pages nothing changes.
void ask_for_huge_pages(void* data, std::size_t bytes);

template <class T>
void reserve_large(std::vector<T>& list, std::size_t count) {
  list.reserve(count);
  ask_for_huge_pages(list.data(), count * sizeof(T));
}

}  // namespace kasen
