// Estimates the number of distinct values of a column from how often values occur in a sample. The generalised
// jackknives of Haas and Stokes ("Estimating the number of classes in a finite population", 1998) are chosen by how
// unevenly the values occur, as they advise. If a few values have nearly all rows, the estimator with a guaranteed
// error of Charikar et al. ("Towards estimation error guarantees for distinct values", 2000) is used.
#include <algorithm>
#include <cmath>
#include <limits>

#include "libcomm/data/compress/steps.h"

namespace kasen {
namespace {

// Values that occur more often in a sample are surely known: they are set aside if others are rare.
constexpr std::int32_t often = 50;
// Squared coefficients of variation of the frequencies of values, up to which the jackknives are good.
constexpr double even = 0.9, uneven = 30;

struct Occurrences {
  double rows = 0, sampled = 0;
  double distinct = 0, once = 0;
  double pairs = 0;  // ordered pairs of equal values

  [[nodiscard]] double share() const { return sampled / rows; }
  [[nodiscard]] double first_order() const { return distinct / (1 - (1 - share()) * once / sampled); }
  // How unevenly values occur, if there are `estimate` of them.
  [[nodiscard]] double variation(double estimate) const {
    return std::max(0.0, estimate / (sampled * sampled) * pairs + estimate / rows - 1);
  }
  [[nodiscard]] double second_order() const {
    if (sampled == 0 || share() >= 1) return distinct;
    const double rest = 1 - share();
    const double unseen = once * rest * std::log(rest) * variation(first_order()) / share();
    return (distinct - unseen) / (1 - rest * once / sampled);
  }
  [[nodiscard]] double guaranteed() const { return std::sqrt(1 / share()) * once + distinct - once; }
};

// Counts the values that occur at most `most` times; their rows are in proportion.
Occurrences occurrences_of(std::span<const std::int32_t> occurrences, double rows, std::int32_t most) {
  Occurrences o;
  double all = 0;
  for (const std::int32_t n : occurrences) {
    all += n;
    if (n > most) continue;
    o.sampled += n;
    o.distinct += 1;
    o.once += n == 1 ? 1 : 0;
    o.pairs += static_cast<double>(n) * (n - 1);
  }
  o.rows = all == 0 ? 0 : rows * o.sampled / all;
  return o;
}

double estimate(std::span<const std::int32_t> occurrences, const Occurrences& all) {
  const double variation = all.variation(all.first_order());
  if (variation < even) return all.second_order();
  if (variation > uneven) return all.guaranteed();
  const Occurrences rare = occurrences_of(occurrences, all.rows, often);
  return rare.second_order() + all.distinct - rare.distinct;
}

}  // namespace

std::int64_t estimate_distinct(std::span<const std::int32_t> occurrences, std::int64_t rows) {
  const Occurrences all =
      occurrences_of(occurrences, static_cast<double>(rows), std::numeric_limits<std::int32_t>::max());
  if (all.sampled >= all.rows) return std::ssize(occurrences);
  // At least the number seen; at most as if every row that was not seen held a value of its own.
  const double most = all.distinct + all.rows - all.sampled;
  return std::llround(std::clamp(estimate(occurrences, all), all.distinct, most));
}

}  // namespace kasen
