/// \file
/// The places of splitters in sorted lines whose elements lie on several workers, and lines made of sorted pieces.
/// Elements are in memory as the keys of their order (libcore/axis/element_order.h), `scalar` being that of the array.
///
/// A splitter is known by its rank r: it comes behind the first r elements of the whole line. Of each worker it has
/// bounds: at least `low` and at most `high` of its elements are among those r. In a round each worker shows elements
/// at equal distances between the bounds, its samples, and gets closer bounds. Equal elements are in the order of the
/// workers, then of their places: so a splitter is exact among them, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/base/types.h"

namespace kasen {

struct SplitBounds {
  std::int64_t low = 0, high = 0;
  [[nodiscard]] std::int64_t open() const { return high - low; }
};

/// A line is `count` keys. One line after another: fills `samples` places each, of which those that no element needs
/// keep what they have.
void take_samples(Scalar scalar, const std::byte* keys, std::int64_t count, std::span<const SplitBounds> bounds,
                  std::int64_t samples, std::byte* to);

/// What one worker showed.
struct ShownSamples {
  const std::byte* keys = nullptr;  ///< `samples` for each line
  std::int64_t samples = 0;
  SplitBounds* bounds = nullptr;  ///< of each line
};
/// Brings the bounds of one splitter closer, in all lines. Where one sample stands for one element, they meet.
void narrow(Scalar scalar, std::span<const ShownSamples> workers, std::int64_t lines, std::int64_t rank);

/// The place of an element among those of its worker, as it travels: 48 bits.
struct PackedPlace {
  std::array<std::uint16_t, 3> parts{};

  [[nodiscard]] static PackedPlace of(std::int64_t place) {
    return {{static_cast<std::uint16_t>(place), static_cast<std::uint16_t>(place >> 16),
             static_cast<std::uint16_t>(place >> 32)}};
  }
  [[nodiscard]] std::int64_t value() const {
    return parts[0] | std::int64_t{parts[1]} << 16 | std::int64_t{parts[2]} << 32;
  }
};
static_assert(sizeof(PackedPlace) == 6);

/// Of an array of elements (o * count + k) * inner + i, the keys of each line (o, i) sorted, one line after another.
/// With `places`, equal ones keep their order, and these are theirs, from 0 on.
struct SortedLines {
  std::int64_t lines = 0, count = 0, inner = 1;
  std::byte* keys = nullptr;
  PackedPlace* places = nullptr;
};
void sort_lines(Scalar scalar, const std::byte* array, const SortedLines& to);

/// The keys and places of each line, one after another.
struct SortedPiece {
  const std::byte* keys = nullptr;
  const PackedPlace* places = nullptr;
  std::int64_t first = 0;                ///< what the first place of its worker is in the whole line
  std::span<const std::int64_t> counts;  ///< of each line
};
/// Merges pieces, of which the first comes first among equals. Writes an array as sort_lines reads it: elements, or
/// their places if the pieces have some.
void merge_lines(Scalar scalar, std::span<const SortedPiece> pieces, std::int64_t lines, std::int64_t inner,
                 std::byte* array);

}  // namespace kasen
