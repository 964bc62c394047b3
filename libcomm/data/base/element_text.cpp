#include "libcomm/data/base/element_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace kasen {
namespace {

constexpr std::int64_t most_planes = 1 << 20;
constexpr std::array scalars{Scalar::f64,     Scalar::f32,  Scalar::i64, Scalar::i32,
                             Scalar::boolean, Scalar::null, Scalar::id};

std::string component_text(const Component& component, const std::vector<std::string>& dims) {
  std::string text{scalar_name(component.scalar)};
  if (component.scalar == Scalar::id)
    text += fmt::format("[{}]", component.id_of < 0 ? "?" : dims.at(static_cast<std::size_t>(component.id_of)));
  return component.count > 0 ? fmt::format("[{}; {}]", text, component.count) : text;
}

// A cursor over the text; every step says whether it matched.
struct Scanner {
  std::string_view rest;
  const std::vector<std::string>* dims;

  bool take(std::string_view token) {
    if (!rest.starts_with(token)) return false;
    rest.remove_prefix(token.size());
    return true;
  }

  bool scalar(Component& component) {
    for (const Scalar s : scalars) {
      if (!take(scalar_name(s))) continue;
      component.scalar = s;
      return s != Scalar::id || dimension(component);
    }
    return false;
  }

  bool dimension(Component& component) {
    if (!take("[")) return false;
    const std::string_view name = rest.substr(0, rest.find(']'));
    const auto found = std::find(dims->begin(), dims->end(), name);
    if (found == dims->end()) return false;
    component.id_of = static_cast<DimId>(found - dims->begin());
    rest.remove_prefix(name.size());
    return take("]");
  }

  bool component(Component& component) {
    if (!take("[")) return scalar(component);
    if (!scalar(component) || !take("; ")) return false;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), component.count);
    if (error != std::errc{} || component.count < 1 || component.count > most_planes) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return take("]");
  }
};

}  // namespace

std::string element_text(const ElementType& element, const std::vector<std::string>& dims) {
  if (!element.tuple) return component_text(element.components.at(0), dims);
  std::string text = "(";
  for (const Component& component : element.components)
    text += (text.size() > 1 ? ", " : "") + component_text(component, dims);
  return text + ")";
}

std::optional<ElementType> parse_element(std::string_view text, const std::vector<std::string>& dims) {
  Scanner scan{text, &dims};
  ElementType element{.components = {}, .tuple = scan.take("(")};
  do {
    if (!scan.component(element.components.emplace_back())) return std::nullopt;
  } while (element.tuple && scan.take(", "));
  if ((element.tuple && !scan.take(")")) || !scan.rest.empty() || element.planes() > most_planes) return std::nullopt;
  return element;
}

}  // namespace kasen
