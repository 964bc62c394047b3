// Elements of one worker of which another worker holds copies. A gather or scatter moves these between the two.
#pragma once

#include <cstdint>
#include <span>

#include "libcore/data/data.h"

namespace kasen {

// The storage of one array on one part: planes as in Array, for `capacity` elements. A shared is one element (or the
// elements of its local dimensions). A compressed array has no data here, but it has `capacity` elements.
struct View {
  std::byte* data = nullptr;
  std::int64_t capacity = 0;
  const CompressedArray* compressed = nullptr;
};

// Element indices[k] of `masters` and element first + k of `copies` are the same element.
struct Mirrored {
  View masters;
  std::span<const std::int32_t> indices;
  View copies;
  std::int64_t first = 0;
  bool packed = false;  // the copies are a message: its planes one after another, without padding; `first` is 0

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(indices.size()); }
  // Plane p of the copies, at the first copy.
  [[nodiscard]] std::byte* copies_at(const ElementType& element, std::int64_t p) const;
};

// Copies elements first, first + 1, ... of an array to a message or from it, where they are contiguous.
void to_message(const ElementType& element, const View& array, std::int64_t first, std::int64_t count,
                std::byte* message);
void from_message(const ElementType& element, const std::byte* message, std::int64_t count, const View& array,
                  std::int64_t first);

}  // namespace kasen
