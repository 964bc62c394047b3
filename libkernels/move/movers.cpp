#include "libkernels/move/movers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "libkernels/emit/kernel.h"

namespace kasen {
namespace {

// Planes of a message follow one another without padding, so those behind the first may be unaligned.
template <class List>
std::int64_t all_elements(std::span<const List> lists) {
  std::int64_t total = 0;
  for (const List& list : lists) total += list.count();
  return total;
}

// Treats them as one long list, so that short ones keep all threads busy, too.
template <class List, class Copy>
void in_parts_of_all(ThreadPool& pool, std::span<const List> lists, const Copy& copy) {
  in_parts(pool, all_elements(lists), [&](int, std::int64_t begin, std::int64_t end) {
    std::int64_t before = 0;
    for (const List& list : lists) {
      const std::int64_t from = std::max(begin - before, std::int64_t{0});
      const std::int64_t to = std::min(end - before, list.count());
      if (from < to) copy(list, from, to);
      before += list.count();
      if (before >= end) break;
    }
  });
}

template <class T>
void copy_plane(const std::byte* masters, const ElementList& elements, std::byte* copies, std::int64_t begin,
                std::int64_t end) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  std::byte* to = copies + begin * size;
  if (elements.inner == 1 && !elements.indices.empty()) {
    const T* from = reinterpret_cast<const T*>(masters);
    for (std::int64_t k = begin; k < end; ++k, to += size) {
      const T value = from[elements.indices[static_cast<size_t>(k)]];
      __builtin_memcpy(to, &value, sizeof(T));
    }
    return;
  }
  elements.for_each_run(begin, end, [&](std::int64_t first, std::int64_t count) {
    std::memcpy(to, masters + first * size, static_cast<size_t>(count * size));
    to += count * size;
  });
}

// The arguments of the compiled loop: the array of owned elements, then the copies as another one. `owned` and `copy`
// are the loop's elements 0 in both.
std::vector<std::int64_t> combine_arguments(const ElementType& element, const Mirrored& list, std::int64_t owned = 0,
                                            std::int64_t copy = 0) {
  std::vector<std::int64_t> words;
  append_array(words, element, list.masters);
  std::int64_t plane = 0;
  size_t at = 0;
  for (const Component& c : element.components) {
    const std::int64_t size = scalar_bytes(c.scalar);
    words[at] += owned * size;
    at += 2;
    words.push_back(reinterpret_cast<std::int64_t>(list.copies_at(element, plane)) + copy * size);
    words.push_back(list.packed ? list.count() * size : (list.copies.capacity * size + 63) / 64 * 64);
    plane += c.planes();
  }
  return words;
}

// The compiled loop takes indices. Those of a run count from its first element.
constexpr std::int64_t longest_run = 4096;
const std::array<std::int32_t, longest_run> counting = [] {
  std::array<std::int32_t, longest_run> numbers{};
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}();

void combine_run(CombineFunction function, const ElementType& element, const Mirrored& list, std::int64_t owned,
                 std::int64_t copy, std::int64_t count, std::byte* scratch) {
  for (std::int64_t done = 0; done < count; done += longest_run) {
    const std::vector<std::int64_t> words = combine_arguments(element, list, owned + done, copy + done);
    function(words.data(), counting.data(), 0, std::min(longest_run, count - done), scratch);
  }
}

// Elements of small rows are listed for a call, since each call has its price.
void combine_rows(CombineFunction function, const ElementType& element, const Mirrored& list, std::int64_t begin,
                  std::int64_t end, std::byte* scratch) {
  std::array<std::int32_t, longest_run> listed;  // NOLINT: written before it is read
  for (std::int64_t done = begin; done < end; done += longest_run) {
    const std::int64_t some = std::min(longest_run, end - done);
    std::int32_t* to = listed.data();
    list.elements.for_each_run(done, done + some, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) *to++ = static_cast<std::int32_t>(i);
    });
    function(combine_arguments(element, list, 0, done).data(), listed.data(), 0, some, scratch);
  }
}

void combine_some(CombineFunction function, const ElementType& element, const Mirrored& list, std::int64_t begin,
                  std::int64_t end, std::byte* scratch) {
  constexpr std::int64_t small_row = 64;
  const ElementList& elements = list.elements;
  const bool small_indices = list.masters.capacity <= std::numeric_limits<std::int32_t>::max();
  if (!elements.indices.empty() && elements.inner == 1) {
    function(combine_arguments(element, list).data(), elements.indices.data(), begin, end, scratch);
  } else if (elements.in_short_runs(small_row) && small_indices) {
    combine_rows(function, element, list, begin, end, scratch);
  } else {
    elements.for_each_run(begin, end, [&](std::int64_t first, std::int64_t count) {
      combine_run(function, element, list, first, begin, count, scratch);
      begin += count;
    });
  }
}

// Positions where lists of another array of owned elements begin, and the end.
std::vector<size_t> arrays_of(std::span<const Mirrored> lists) {
  std::vector<size_t> bounds;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (i == 0 || lists[i].masters.data != lists[i - 1].masters.data) bounds.push_back(i);
  }
  bounds.push_back(lists.size());
  return bounds;
}

}  // namespace

void combine_listed(Workshop& shop, CombineFunction function, const ElementType& element,
                    std::span<const Mirrored> lists) {
  const auto combine = [&](int thread, const Mirrored& list, std::int64_t begin, std::int64_t end) {
    combine_some(function, element, list, begin, end, shop.scratch(thread));
  };
  const std::vector<size_t> arrays = arrays_of(lists);
  const auto count = static_cast<std::int64_t>(arrays.size()) - 1;
  if (count >= 2 * shop.pool.threads() && all_elements(lists) > little_work) {  // an array to a thread
    share_out(shop.pool, count, [&](int thread, std::int64_t a) {
      for (size_t i = arrays[static_cast<size_t>(a)]; i < arrays[static_cast<size_t>(a) + 1]; ++i) {
        combine(thread, lists[i], 0, lists[i].count());
      }
    });
    return;
  }
  for (const Mirrored& list : lists) {
    in_parts(shop.pool, list.count(),
             [&](int thread, std::int64_t begin, std::int64_t end) { combine(thread, list, begin, end); });
  }
}

void copy_listed(ThreadPool& pool, const ElementType& element, std::span<const Mirrored> lists) {
  const auto copy = [&](const Mirrored& list, std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p));
      const std::byte* masters = list.masters.data + plane_offset(element, list.masters.capacity, p);
      std::byte* copies = list.copies_at(element, p);
      if (size == 8) copy_plane<std::uint64_t>(masters, list.elements, copies, begin, end);
      if (size == 4) copy_plane<std::uint32_t>(masters, list.elements, copies, begin, end);
      if (size == 1) copy_plane<std::uint8_t>(masters, list.elements, copies, begin, end);
    }
  };
  in_parts_of_all(pool, lists, copy);
}

void copy_placed(ThreadPool& pool, const ElementType& element, std::span<const PlaceCopy> copies) {
  in_parts_of_all(pool, copies, [&](const PlaceCopy& copy, std::int64_t begin, std::int64_t end) {
    copy_some(element, copy, begin, end);
  });
}

}  // namespace kasen
