// Elements of one worker of which another worker holds copies. A gather or scatter moves these between the two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/data/data.h"
#include "libcore/data/place_list.h"

namespace kasen {

// The storage of one array on one part: planes as in Array, for `capacity` elements. A shared is one element (or the
// elements of its local dimensions). A compressed array has no data here, but it has `capacity` elements.
struct View {
  std::byte* data = nullptr;
  std::int64_t capacity = 0;
  const CompressedArray* compressed = nullptr;
};

// Elements of an array: `inner` consecutive ones for each of the indices, in their order; or those at `places`. Without
// either: a run of `count` elements from `first` on.
struct ElementList {
  std::span<const std::int32_t> indices = {};
  std::int64_t inner = 1;
  std::int64_t first = 0;
  std::int64_t count = 0;
  const PlaceList* places = nullptr;

  [[nodiscard]] static ElementList at(const PlaceList& places) { return {{}, 1, 0, places.size(), &places}; }
  [[nodiscard]] static ElementList run(std::int64_t first, std::int64_t count) { return {{}, 1, first, count}; }
  [[nodiscard]] static ElementList of(std::span<const std::int32_t> indices, std::int64_t inner = 1) {
    return {indices, inner, 0, static_cast<std::int64_t>(indices.size()) * inner};
  }
  // True if the runs of for_each_run are short: each has less than `elements`.
  [[nodiscard]] bool in_short_runs(std::int64_t elements) const {
    return places != nullptr ? places->longest_run() < elements : !indices.empty() && inner < elements;
  }
  // Calls use(first, count) for runs of the elements that stand at begin .. end - 1 in the list, in their order.
  template <class Use>
  void for_each_run(std::int64_t begin, std::int64_t end, const Use& use) const {
    if (places != nullptr) return places->for_each_run(begin, end, use);
    if (indices.empty()) return use(first + begin, end - begin);
    while (begin < end) {
      const std::int64_t within = begin % inner, some = std::min(inner - within, end - begin);
      use(indices[static_cast<std::size_t>(begin / inner)] * inner + within, some);
      begin += some;
    }
  }
};

// Element k of `elements` in `masters` and element first + k of `copies` are the same element.
struct Mirrored {
  View masters;
  ElementList elements;
  View copies;
  std::int64_t first = 0;
  bool packed = false;  // the copies are a message: its planes one after another, without padding; `first` is 0

  [[nodiscard]] std::int64_t count() const { return elements.count; }
  // Plane p of the copies, at the first copy.
  [[nodiscard]] std::byte* copies_at(const ElementType& element, std::int64_t p) const;
};

// The elements of an array at places `from` go to places `to` of another one, in the order of both lists.
struct PlaceCopy {
  View source;
  const PlaceList* from = nullptr;
  View target;
  const PlaceList* to = nullptr;

  [[nodiscard]] std::int64_t count() const { return from->size(); }
};
// Copies those that stand at begin .. end - 1 in the lists, one after another. The arrays may be one if no place comes
// before the one that it is copied to.
void copy_some(const ElementType& element, const PlaceCopy& copy, std::int64_t begin, std::int64_t end);

// Copies elements first, first + 1, ... of an array to a message or from it, where they are contiguous.
void to_message(const ElementType& element, const View& array, std::int64_t first, std::int64_t count,
                std::byte* message);
void from_message(const ElementType& element, const std::byte* message, std::int64_t count, const View& array,
                  std::int64_t first);

}  // namespace kasen
