// The known ranges of the numbers of an element, place by place.
#pragma once

#include <functional>
#include <string>

#include "libcore/scalar/interval.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// Places are the numbers of an element that have ranges of their own: components, and coordinates of small arrays with
// at most this many. All coordinates of a longer array are one place.
inline constexpr std::int64_t coordinates_apart = 16;
[[nodiscard]] size_t places_of(const Component& component);
[[nodiscard]] size_t places_of(const ElementType& type);
[[nodiscard]] size_t place_of_component(const ElementType& type, int component);
[[nodiscard]] size_t place_of_plane(const ElementType& type, std::int64_t plane);
[[nodiscard]] Scalar place_scalar(const ElementType& type, size_t place);
// "x", "x.1", "x[2]", "x.0[2]".
[[nodiscard]] std::string place_text(const ElementType& type, const std::string& name, size_t place);

[[nodiscard]] ElementRange unknown_range(const ElementType& type);
[[nodiscard]] ElementRange join(const ElementRange& a, const ElementRange& b);
[[nodiscard]] ElementRange intersect(const ElementRange& a, const ElementRange& b);
[[nodiscard]] bool contains(const ElementRange& wide, const ElementRange& narrow);
// The range that a function declares for one plane of a parameter; everything where it declares none.
[[nodiscard]] Interval declared_range(const ScalarParam& param, std::int64_t plane);
[[nodiscard]] bool declares_range(const ScalarFunction& fn);
// As a parameter holds it: empty if nothing is known.
[[nodiscard]] ElementRange as_declared(ElementRange range);
// Resets the range to `least` (which may be empty) place by place, wherever `enough` is still true of the range then.
void keep_needed(ElementRange& range, const ElementRange& least, const std::function<bool()>& enough);
// " > 0.0", or " at 1 > 0.0" for each place with a known range where places differ.
[[nodiscard]] std::string range_text(const ElementRange& range);

}  // namespace kasen
