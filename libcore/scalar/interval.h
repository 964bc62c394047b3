// The known range of a number: an interval of the reals that the program states or implies. A NaN is never ruled out.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace kasen {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above = false;     // low itself is excluded
  bool below = false;     // high itself is excluded
  bool not_zero = false;  // zero is excluded, though it lies inside

  static Interval exactly(double v) { return {v, v}; }
  static Interval at_least(double v) { return {v, std::numeric_limits<double>::infinity()}; }

  [[nodiscard]] bool everything() const { return *this == Interval{}; }
  [[nodiscard]] bool holds(double v) const {
    return (above ? v > low : v >= low) && (below ? v < high : v <= high) && !(not_zero && v == 0);
  }
  [[nodiscard]] bool positive() const { return low > 0 || (low == 0 && (above || not_zero)); }
  [[nodiscard]] bool negative() const { return high < 0 || (high == 0 && (below || not_zero)); }
  [[nodiscard]] bool excludes_zero() const { return !holds(0); }

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Intervals of the numbers of an element, one for each place (element_range.h). An empty one that a function or a
// program states means nothing is known.
using ElementRange = std::vector<Interval>;

[[nodiscard]] bool contains(const Interval& wide, const Interval& narrow);
[[nodiscard]] Interval join(const Interval& a, const Interval& b);       // the smallest that holds both
[[nodiscard]] Interval intersect(const Interval& a, const Interval& b);  // may be empty
// True if no number is in it; `whole`: if no integer is.
[[nodiscard]] bool is_empty(const Interval& interval, bool whole);

// " > 0.0 <= 1.0 != 0.0": the text that the IR has after a name; empty for everything.
[[nodiscard]] std::string interval_text(const Interval& interval);

}  // namespace kasen
