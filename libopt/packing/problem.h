// What the searches know of buffers: items over sections of time, in canonical order and units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libopt/packing/packing.h"

namespace kasen::packing {

// A section is a moment with a maximal live set: items meet if, and only if, they share a section.
struct Item {
  std::int64_t size = 0, alignment = 1;  // in units of the problem
  int first = 0, last = 0;               // lives in sections [first, last)
  int twin = -1;                         // the next item with the same sections, size and alignment
};

// Buffers that no moment separates from each other.
struct Problem {
  std::vector<Item> items;                 // by first section; equal ones side by side
  std::vector<std::vector<int>> sections;  // items of each
  std::vector<std::vector<int>> meets;     // by item: those that live at once with it
  std::vector<std::size_t> buffers;        // by item: index in the caller's list
  std::int64_t unit = 1;                   // bytes
  std::int64_t bound = 0;                  // the largest live set, in units
  [[nodiscard]] int size() const { return static_cast<int>(items.size()); }
};

using Offsets = std::vector<std::int64_t>;  // by item, in units

[[nodiscard]] inline std::int64_t aligned_up(std::int64_t value, std::int64_t alignment) {
  return alignment == 1 ? value : (value + alignment - 1) / alignment * alignment;
}

// The top of the highest item.
[[nodiscard]] std::int64_t pool_size(const Problem& problem, const Offsets& offsets);

// Throws as pack does. Buffers of size 0 are in no part.
[[nodiscard]] std::vector<Problem> parts_of(const std::vector<Buffer>& buffers);

}  // namespace kasen::packing
