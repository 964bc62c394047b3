#include "libcore/scalar/element_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen {

size_t places_of(const Component& component) {
  return component.count > coordinates_apart ? 1 : static_cast<size_t>(component.planes());
}

size_t places_of(const ElementType& type) {
  size_t places = 0;
  for (const Component& c : type.components) places += places_of(c);
  return places;
}

size_t place_of_component(const ElementType& type, int component) {
  size_t place = 0;
  for (int i = 0; i < component; ++i) place += places_of(type.components[static_cast<size_t>(i)]);
  return place;
}

size_t place_of_plane(const ElementType& type, std::int64_t plane) {
  size_t place = 0;
  for (const Component& c : type.components) {
    if (plane < c.planes()) return place + (c.count > coordinates_apart ? 0 : static_cast<size_t>(plane));
    plane -= c.planes();
    place += places_of(c);
  }
  return place;
}

Scalar place_scalar(const ElementType& type, size_t place) {
  for (const Component& c : type.components) {
    if (place < places_of(c)) return c.scalar;
    place -= places_of(c);
  }
  return Scalar::null;
}

std::string place_text(const ElementType& type, const std::string& name, size_t place) {
  for (size_t i = 0; i < type.components.size(); ++i) {
    const Component& c = type.components[i];
    if (place >= places_of(c)) {
      place -= places_of(c);
      continue;
    }
    const std::string part = type.tuple ? fmt::format("{}.{}", name, i) : name;
    return places_of(c) > 1 ? fmt::format("{}[{}]", part, place) : part;
  }
  return name;
}

ElementRange unknown_range(const ElementType& type) {
  if (type.is(Scalar::null)) return {Interval::exactly(1)};
  return ElementRange(places_of(type));
}

ElementRange join(const ElementRange& a, const ElementRange& b) {
  ElementRange both;
  for (size_t i = 0; i < a.size(); ++i) both.push_back(join(a[i], b[i]));
  return both;
}

ElementRange intersect(const ElementRange& a, const ElementRange& b) {
  ElementRange both;
  for (size_t i = 0; i < a.size(); ++i) both.push_back(intersect(a[i], b[i]));
  return both;
}

bool contains(const ElementRange& wide, const ElementRange& narrow) {
  return std::equal(wide.begin(), wide.end(), narrow.begin(), narrow.end(),
                    [](const Interval& w, const Interval& n) { return contains(w, n); });
}

Interval declared_range(const ScalarParam& param, std::int64_t plane) {
  return param.range.empty() ? Interval{} : param.range[place_of_plane(param.type, plane)];
}

bool declares_range(const ScalarFunction& fn) {
  return std::any_of(fn.params.begin(), fn.params.end(), [](const ScalarParam& p) { return !p.range.empty(); });
}

ElementRange as_declared(ElementRange range) {
  const bool nothing = std::all_of(range.begin(), range.end(), [](const Interval& i) { return i.everything(); });
  return nothing ? ElementRange{} : std::move(range);
}

void keep_needed(ElementRange& range, const ElementRange& least, const std::function<bool()>& enough) {
  if (range == least) return;
  ElementRange known = std::exchange(range, least);
  if (enough()) return;
  for (size_t i = 0; i < known.size(); ++i) {
    const ElementRange before = known;
    known[i] = least.empty() ? Interval{} : least[i];
    if (known[i] == before[i]) continue;
    range = as_declared(known);
    if (!enough()) known = before;
  }
  range = as_declared(std::move(known));
}

std::string range_text(const ElementRange& range) {
  if (range.empty()) return {};
  const bool alike = std::all_of(range.begin(), range.end(), [&](const Interval& i) { return i == range[0]; });
  if (alike) return interval_text(range[0]);
  std::string text;
  for (size_t i = 0; i < range.size(); ++i) {
    if (!range[i].everything()) text += fmt::format(" at {}{}", i, interval_text(range[i]));
  }
  return text;
}

}  // namespace kasen
