#include "libcore/base/types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace kasen {
namespace {

struct ScalarRow {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array<ScalarRow, 7> scalar_rows{{
    {"f64", 8},
    {"f32", 4},
    {"i64", 8},
    {"i32", 4},
    {"bool", 1},
    {"null", 0},
    {"id", 8},
}};

}  // namespace

std::string_view scalar_name(Scalar scalar) { return scalar_rows[static_cast<size_t>(scalar)].name; }
std::int64_t scalar_bytes(Scalar scalar) { return scalar_rows[static_cast<size_t>(scalar)].bytes; }

std::int64_t ElementType::planes() const {
  std::int64_t count = 0;
  for (const Component& c : components) count += c.planes();
  return count;
}

std::int64_t ElementType::bytes() const {
  std::int64_t total = 0;
  for (const Component& c : components) total += c.planes() * scalar_bytes(c.scalar);
  return total;
}

std::int64_t ElementType::first_plane(int component) const {
  std::int64_t plane = 0;
  for (int i = 0; i < component; ++i) plane += components[static_cast<size_t>(i)].planes();
  return plane;
}

Scalar ElementType::plane_scalar(std::int64_t plane) const {
  for (const Component& c : components) {
    if (plane < c.planes()) return c.scalar;
    plane -= c.planes();
  }
  return components.back().scalar;
}

SlaveSet all_slaves() { return {{"", Axis::all}}; }

bool is_all(const SlaveSet& set) { return set.size() == 1 && set[0].axis == Axis::all; }

std::string slaves_text(const SlaveSet& set) {
  constexpr std::array<std::string_view, 4> axes{".rows", ".cols", "all", ""};
  std::string text;
  for (const SlaveAtom& atom : set) {
    if (!text.empty()) text += ", ";
    const bool word = std::all_of(atom.matrix.begin(), atom.matrix.end(),
                                  [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; });
    text.append(word ? atom.matrix : '"' + atom.matrix + '"').append(axes[static_cast<size_t>(atom.axis)]);
  }
  return text;
}

SlaveSet set_union(const SlaveSet& a, const SlaveSet& b) {
  if (is_all(a) || is_all(b)) return all_slaves();
  SlaveSet result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

SlaveSet set_intersection(const SlaveSet& a, const SlaveSet& b) {
  if (is_all(a)) return b;
  if (is_all(b)) return a;
  SlaveSet result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

bool set_contains(const SlaveSet& a, const SlaveSet& b) {
  return is_all(a) || std::includes(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace kasen
