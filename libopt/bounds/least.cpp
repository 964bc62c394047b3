#include "libopt/bounds/least.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>

namespace kasen {
namespace {

// Labels of the same arrays count together. The logarithm of a side, and of its size.
struct BoxSide {
  std::uint32_t arrays;
  double log, most;
};

// Elements of the faces, by array.
std::vector<double> faces(const std::vector<BoxSide>& sides) {
  std::uint32_t arrays = 0;
  for (const BoxSide& side : sides) arrays |= side.arrays;
  std::vector<double> elements;
  for (std::uint32_t k = 0; (arrays >> k) != 0; ++k) {
    if ((arrays >> k & 1) == 0) continue;
    double log = 0;
    for (const BoxSide& side : sides) log += (side.arrays >> k & 1) != 0 ? side.log : 0;
    elements.push_back(std::exp(log));
  }
  return elements;
}

double sum_of_faces(const std::vector<BoxSide>& sides) {
  double sum = 0;
  for (const double face : faces(sides)) sum += face;
  return sum;
}

// Makes one side longer by the factor by which another one gets shorter, so that the faces are least. Returns how much.
double balance(std::vector<BoxSide>& sides, std::size_t a, std::size_t b) {
  double with_a = 0, with_b = 0;
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1U) {
    const bool has_a = (sides[a].arrays & bit) != 0, has_b = (sides[b].arrays & bit) != 0;
    if (has_a == has_b) continue;
    double log = 0;
    for (const BoxSide& side : sides) log += (side.arrays & bit) != 0 ? side.log : 0;
    (has_a ? with_a : with_b) += std::exp(log);
  }
  const double least = std::max(-sides[a].log, sides[b].log - sides[b].most);
  const double most = std::min(sides[a].most - sides[a].log, sides[b].log);
  double by = with_a == 0 ? most : with_b == 0 ? least : std::log(with_b / with_a) / 2;
  by = std::clamp(by, std::min(least, 0.0), std::max(most, 0.0));
  sides[a].log += by;
  sides[b].log -= by;
  return std::abs(by);
}

// The sum is convex in the logarithms, so balancing two sides after the other ends at the least.
void shape(std::vector<BoxSide>& sides) {
  constexpr int most_rounds = 10'000;
  constexpr double settled = 1e-13;
  double moved = 1;
  for (int round = 0; round < most_rounds && moved > settled; ++round) {
    moved = 0;
    for (std::size_t a = 0; a < sides.size(); ++a) {
      for (std::size_t b = a + 1; b < sides.size(); ++b) moved = std::max(moved, balance(sides, a, b));
    }
  }
}

}  // namespace

double least_of_contraction(const std::vector<BoundLabel>& labels, int workers) {
  std::map<std::uint32_t, double> sizes;
  double tuples = 0;
  for (const BoundLabel& label : labels) {
    if (label.size < 1) return 0;
    sizes[label.arrays] += std::log(label.size);
    tuples += std::log(label.size);
  }
  std::vector<BoxSide> sides;
  for (const auto& [arrays, log] : sizes) sides.push_back({arrays, log, log});
  const double owned = sum_of_faces(sides) / workers;
  const double wanted = std::max(tuples - std::log(static_cast<double>(workers)), 0.0);
  for (BoxSide& side : sides) side.log = tuples > 0 ? side.most * wanted / tuples : 0;
  shape(sides);
  return std::max(sum_of_faces(sides) - owned, 0.0);
}

double least_elements(std::array<double, 3> sizes, int workers) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const auto [m, n, k] = sizes;
  const double p = workers, owned = (m * n + m * k + n * k) / p;
  if (k == 0) return 0;
  double held = 3 * std::pow(m * n * k / p, 2.0 / 3);
  if (p <= m * n / (k * k)) held = 2 * std::sqrt(m * n * k * k / p) + m * n / p;
  if (p <= m / n) held = n * k + (m * n + m * k) / p;
  return std::max(held - owned, 0.0);
}

double least_elements_of_reduction(double results, int workers) { return results < workers ? 1 : 0; }

}  // namespace kasen
