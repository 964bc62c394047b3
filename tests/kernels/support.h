// Running one operator of a module on two kernel sets and comparing what they make, bit by bit or within some ulp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "tests/support/generated.h"

namespace kasen::test {

using Random = std::mt19937_64;

inline std::int64_t below(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// Numbers of every kind: small ones, that meet often, and now and then the extremes.
inline Word random_word(Random& random, Scalar scalar) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,   -0.0, 1.0,   -1.0, inf, -inf, std::numeric_limits<double>::quiet_NaN(),
                            1e300, -3e9, 1e-310};
  if (scalar == Scalar::boolean) return Word::integer(below(random, 2));
  if (is_float(scalar)) {
    double v =
        below(random, 12) == 0 ? special[below(random, 10)] : static_cast<double>(below(random, 4001) - 2000) / 64;
    if (below(random, 3) == 0) v *= 1.1;
    return Word::real(scalar == Scalar::f32 ? static_cast<float>(v) : v);
  }
  std::int64_t v = below(random, 21) - 10;
  if (below(random, 8) == 0)
    v = below(random, 2) != 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  if (below(random, 8) == 0) v = static_cast<std::int64_t>(random());
  return Word::integer(scalar == Scalar::i32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(v)) : v);
}

inline Array random_array(Random& random, const ElementType& element, std::int64_t count) {
  Array array(element, count);
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar s = element.plane_scalar(p);
    for (std::int64_t i = 0; i < count; ++i)
      store_word(s, array.plane(p) + i * scalar_bytes(s), random_word(random, s));
  }
  return array;
}

// Floats that lose no digits to each other in a sum.
inline Array positive_array(Random& random, const ElementType& element, std::int64_t count) {
  Array array(element, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double v = 1.0 + static_cast<double>(below(random, 1000)) / 7;
    store_word(element.scalar(), array.plane(0) + i * scalar_bytes(element.scalar()), Word::real(v));
  }
  return array;
}

inline View view(Array& array) { return View{array.bytes.data(), array.count}; }

inline Array copy(const Array& from) {
  Array to(from.element, from.count);
  if (from.bytes.size() > 0) std::memcpy(to.bytes.data(), from.bytes.data(), static_cast<size_t>(from.bytes.size()));
  return to;
}

// One element that holds a reducer's identity.
inline Array identity_of(const ScalarFunction& reducer) {
  Array array(reducer.result(), 1);
  const auto words = reducer_identity(reducer).value();
  for (std::int64_t p = 0; p < array.element.planes(); ++p) {
    store_word(array.element.plane_scalar(p), array.plane(p), words[static_cast<size_t>(p)]);
  }
  return array;
}

// Distance in units in the last place; equal numbers and two NaNs are 0 apart.
inline double ulps(double a, double b, bool single) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::memcmp(&a, &b, sizeof a) == 0) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  if (a == b) return 0.5;  // zeros of different sign
  const double size = std::max(std::fabs(a), std::fabs(b));
  const double unit = single ? std::max(std::ldexp(1.0, std::ilogb(size) - 23), 0x1p-149)
                             : std::max(std::ldexp(1.0, std::ilogb(size) - 52), 0x1p-1074);
  return std::fabs(a - b) / unit;
}

// Empty if the first `count` elements agree.
inline std::string difference(const Array& expected, const Array& got, std::int64_t count, double within = 0) {
  for (std::int64_t p = 0; p < expected.element.planes(); ++p) {
    const Scalar s = expected.element.plane_scalar(p);
    for (std::int64_t i = 0; i < count; ++i) {
      const Word e = load_word(s, expected.plane(p) + i * scalar_bytes(s));
      const Word g = load_word(s, got.plane(p) + i * scalar_bytes(s));
      const bool same = is_float(s) ? ulps(e.f, g.f, s == Scalar::f32) <= within : e.i == g.i;
      if (!same) {
        return "element " + std::to_string(i) + " plane " + std::to_string(p) + ": expected " + literal_text(s, e) +
               ", got " + literal_text(s, g);
      }
    }
  }
  return {};
}

}  // namespace kasen::test
