// Gradient descent on the logistic loss, examples/logistic.ks: each contestant's time is that of one turn, a product
// with X, the sigmoid, and a product with its transpose. The question "fits" compares with other methods, to equal
// loss.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/driver.h"
#include "bench/samples.h"

namespace kasen::bench {

constexpr std::int64_t descent_iterations = 6;
constexpr double descent_rate = 0.1;

struct Descent {
  std::vector<double> weights;
  double seconds_per_iteration = 0;
};
using Descending = std::function<Descent()>;
[[nodiscard]] Descending kasen_logistic(std::int64_t rows, std::int64_t cols, int threads);
// Compressed rows, and those of the transpose beside them.
[[nodiscard]] Descending openmp_logistic(std::int64_t rows, std::int64_t cols, int threads);

}  // namespace kasen::bench
