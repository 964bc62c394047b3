#include "libcore/scalar/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/scalar/scalar.h"

namespace kasen {

bool contains(const Interval& wide, const Interval& narrow) {
  const bool left = wide.low < narrow.low || (wide.low == narrow.low && (!wide.above || narrow.above));
  const bool right = wide.high > narrow.high || (wide.high == narrow.high && (!wide.below || narrow.below));
  return left && right && !(wide.not_zero && narrow.holds(0));
}

Interval join(const Interval& a, const Interval& b) {
  Interval all;
  all.low = std::min(a.low, b.low);
  all.above = (a.low > all.low || a.above) && (b.low > all.low || b.above);
  all.high = std::max(a.high, b.high);
  all.below = (a.high < all.high || a.below) && (b.high < all.high || b.below);
  all.not_zero = all.holds(0) && a.excludes_zero() && b.excludes_zero();
  return all;
}

Interval intersect(const Interval& a, const Interval& b) {
  Interval both;
  both.low = std::max(a.low, b.low);
  both.above = (a.low == both.low && a.above) || (b.low == both.low && b.above);
  both.high = std::min(a.high, b.high);
  both.below = (a.high == both.high && a.below) || (b.high == both.high && b.below);
  both.not_zero = both.holds(0) && (a.not_zero || b.not_zero);
  return both;
}

bool is_empty(const Interval& interval, bool whole) {
  Interval i = interval;
  if (whole) {
    i.low = i.above ? std::floor(i.low) + 1 : std::ceil(i.low);
    i.high = i.below ? std::ceil(i.high) - 1 : std::floor(i.high);
    i.above = i.below = false;
  }
  return i.low > i.high || (i.low == i.high && !i.holds(i.low));
}

std::string interval_text(const Interval& interval) {
  const Interval all;
  const auto number = [](double v) { return literal_text(Scalar::f64, Word::real(v)); };
  std::string text;
  if (interval.low != all.low || interval.above)
    text += fmt::format(" {} {}", interval.above ? ">" : ">=", number(interval.low));
  if (interval.high != all.high || interval.below)
    text += fmt::format(" {} {}", interval.below ? "<" : "<=", number(interval.high));
  if (interval.not_zero) text += " != 0.0";
  return text;
}

}  // namespace kasen
