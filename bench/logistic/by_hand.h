// Logistic regression by hand: compressed rows and those of the transpose, so that both products pull and no thread
// writes where another does.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/samples.h"
#include "libcore/system/memory.h"

namespace kasen::bench {

struct HandRows {  // compressed, aligned and on huge pages, as Kasen's are
  std::vector<std::int64_t> pointers;
  Bytes places, values;

  HandRows(std::int64_t rows, std::int64_t entries);  // pointers 0
  [[nodiscard]] std::int32_t* place() { return reinterpret_cast<std::int32_t*>(places.data()); }
  [[nodiscard]] double* value() { return reinterpret_cast<double*>(values.data()); }
  [[nodiscard]] const std::int32_t* place() const { return reinterpret_cast<const std::int32_t*>(places.data()); }
  [[nodiscard]] const double* value() const { return reinterpret_cast<const double*>(values.data()); }
  [[nodiscard]] double times(const double* x, std::int64_t r) const {
    const std::int32_t* to = place();
    const double* v = value();
    double sum = 0;
    for (std::int64_t e = pointers[static_cast<size_t>(r)]; e < pointers[static_cast<size_t>(r) + 1]; ++e) {
      sum += v[e] * x[to[e]];
    }
    return sum;
  }
};

// Each thread fills the columns that are its own.
[[nodiscard]] HandRows transposed(const HandRows& rows, std::int64_t cols, int threads);

struct HandSamples {
  std::int64_t rows, cols;
  HandRows by_row, by_col;
  std::vector<double> target, e, w;  // target: 0 or 1
};

void descend(HandSamples& samples, double rate, int threads);  // one turn

// examples/logistic-lbfgs.ks without an intercept, with its rule to end.
struct FitOptions {
  double lambda = 1, tolerance = 1e-4, progress = 2.2e-9;
  std::int64_t steps = 100;
};
// Leaves the weights in samples.w; returns the loss.
double fit_by_lbfgs(HandSamples& samples, const FitOptions& options, int threads);
[[nodiscard]] HandSamples hand_samples(const SparseInput& x, const std::vector<double>& labels, int threads);

}  // namespace kasen::bench
