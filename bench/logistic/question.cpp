#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/logistic/logistic.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t rows = 300'000, cols = 30'000;

void check(const std::vector<double>& expected, const std::vector<double>& got) {
  double largest = 0;
  for (const double w : expected) largest = std::max(largest, std::fabs(w));
  for (size_t j = 0; j < expected.size(); ++j) {
    if (std::fabs(got.at(j) - expected[j]) <= 1e-10 * largest) continue;
    throw std::runtime_error(fmt::format("logistic: weight {} is {}, not {}", j, got[j], expected[j]));
  }
}

}  // namespace

Question logistic_question(const Settings& settings) {
  const Descending kasen = kasen_logistic(rows, cols, settings.threads);
  const Descending openmp = openmp_logistic(rows, cols, settings.threads);
  check(openmp().weights, kasen().weights);
  Question made{"logistic", "ms/iteration", 1e3, {}, {}};
  made.contestants.push_back({"kasen", [kasen] { return kasen().seconds_per_iteration; }});
  made.contestants.push_back({"openmp", [openmp] { return openmp().seconds_per_iteration; }});
  return made;
}

}  // namespace kasen::bench
