/// \file
/// Where the elements of a relayout's operands stand in its result, also where it rearranges them on the way: a slice,
/// a concatenation or a reshape to or from a derived dimension, or a pick (docs/ir.md, "Layouts"). Both sides are told
/// in common indices, in which each element has one place: those of the result, but for a reshape those of the product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/data/place_list.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/module.h"

namespace kasen {

class MovedElements {
 public:
  /// A gather, scatter or relayout of a module with sizes. `picked`: of a pick, the ascending indices at which its mask
  /// is true. All stay.
  MovedElements(const Module& module, const Op& op, std::span<const std::int64_t> picked = {});

  /// Elements of an operand that the result has, and elements of the result, in common indices.
  [[nodiscard]] Elements of_operand(std::size_t operand, Elements elements) const;
  [[nodiscard]] Elements of_result(Elements elements) const;

  /// The places in memory of `some` elements, in common indices, in the order of the result. `memory` has the array's
  /// own indices, and all of these elements.
  [[nodiscard]] PlaceList places_in_operand(std::size_t operand, const Elements& some, const Elements& memory) const;
  [[nodiscard]] PlaceList places_in_result(const Elements& some, const Elements& memory) const;

 private:
  enum class Way : std::uint8_t { same, slice, concat, join, split, pick };

  [[nodiscard]] Elements with_product(Elements elements) const;
  [[nodiscard]] IndexRuns sliced(const IndexRuns& source) const;
  [[nodiscard]] IndexRuns picks_of(const IndexRuns& source) const;
  [[nodiscard]] PlaceList::Axis axis_of_slice(const IndexRuns& some, const IndexRuns& memory) const;
  [[nodiscard]] PlaceList::Axis axis_of_picks(const IndexRuns& some, const IndexRuns& memory) const;

  Way way_ = Way::same;
  std::size_t axis_ = 0;                  // the first of those that change, on both sides
  SlicedIndices slice_;                   // of a slice
  std::span<const std::int64_t> picked_;  // of a pick
  std::vector<std::int64_t> offsets_;     // of a concatenation's operands in the sum
  std::vector<std::int64_t> sizes_;       // of a product's dimensions
};

}  // namespace kasen
