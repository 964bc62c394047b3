// By hand: both products pull, so that no thread writes where another does.
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/logistic/logistic.h"
#include "libcore/memory.h"

namespace kasen::bench {
namespace {

struct Rows {  // compressed, aligned and on huge pages, as Kasen's are
  std::vector<std::int64_t> pointers;
  Bytes places, values;

  Rows(std::int64_t count, const std::vector<std::int64_t>& row, const std::vector<std::int64_t>& col,
       const std::vector<double>& value)
      : pointers(static_cast<size_t>(count) + 1),
        places(static_cast<std::int64_t>(row.size()) * 4),
        values(static_cast<std::int64_t>(row.size()) * 8) {
    for (const std::int64_t r : row) ++pointers[static_cast<size_t>(r) + 1];
    for (size_t r = 0; r < static_cast<size_t>(count); ++r) pointers[r + 1] += pointers[r];
    std::vector<std::int64_t> at(pointers.begin(), pointers.end() - 1);
    for (size_t e = 0; e < row.size(); ++e) {
      const std::int64_t to = at[static_cast<size_t>(row[e])]++;
      reinterpret_cast<std::int32_t*>(places.data())[to] = static_cast<std::int32_t>(col[e]);
      reinterpret_cast<double*>(values.data())[to] = value[e];
    }
  }

  [[nodiscard]] double times(const double* x, std::int64_t r) const {
    const auto* place = reinterpret_cast<const std::int32_t*>(places.data());
    const auto* value = reinterpret_cast<const double*>(values.data());
    double sum = 0;
    for (std::int64_t e = pointers[static_cast<size_t>(r)]; e < pointers[static_cast<size_t>(r) + 1]; ++e) {
      sum += value[e] * x[place[e]];
    }
    return sum;
  }
};

struct Samples {
  std::int64_t rows, cols;
  Rows by_row, by_col;
  std::vector<double> target, e, w;

  Samples(std::int64_t n, std::int64_t m, const SparseInput& x)
      : rows(n), cols(m), by_row(n, x.rows, x.cols, x.values), by_col(m, x.cols, x.rows, x.values) {
    for (std::int64_t i = 0; i < n; ++i) target.push_back(sample_label(i) > 0 ? 1 : 0);
    e.resize(static_cast<size_t>(n));
    w.resize(static_cast<size_t>(m));
  }
};

void turn(Samples& s, int threads) {
  const double step = descent_rate / static_cast<double>(s.rows);
  double *e = s.e.data(), *w = s.w.data();
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
  for (std::int64_t i = 0; i < s.rows; ++i) {
    e[i] = 1 / (1 + std::exp(-s.by_row.times(w, i))) - s.target[static_cast<size_t>(i)];
  }
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
  for (std::int64_t j = 0; j < s.cols; ++j) w[j] -= step * s.by_col.times(e, j);
}

}  // namespace

Descending openmp_logistic(std::int64_t rows, std::int64_t cols, int threads) {
  auto samples = std::make_shared<Samples>(rows, cols, make_samples(rows, cols));
  return [samples, threads] {
    std::fill(samples->w.begin(), samples->w.end(), 0);
    turn(*samples, threads);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t t = 1; t < descent_turns; ++t) turn(*samples, threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return Descent{samples->w, time.count() / static_cast<double>(descent_turns - 1)};
  };
}

}  // namespace kasen::bench
