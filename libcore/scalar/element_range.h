// What is known of the numbers of an element, place by place.
#pragma once

#include <functional>
#include <string>

#include "libcore/scalar/interval.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// Places are the numbers of an element of which something is known apart: components, and coordinates of small arrays
// of at most so many. The coordinates of longer ones are one place.
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
// What a function declares of a parameter, of one plane; everything where it declares nothing.
[[nodiscard]] Interval declared_range(const ScalarParam& param, std::int64_t plane);
[[nodiscard]] bool declares_range(const ScalarFunction& fn);
// As a parameter holds it: empty if nothing is known.
[[nodiscard]] ElementRange as_declared(ElementRange range);
// Goes back to `least` (which may be empty) place by place, wherever `enough` still says so of the range as it is then.
void keep_needed(ElementRange& range, const ElementRange& least, const std::function<bool()>& enough);
// " > 0.0", or " at 1 > 0.0" for each place of which something is known where they differ.
[[nodiscard]] std::string range_text(const ElementRange& range);

}  // namespace kasen
