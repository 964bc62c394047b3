// By hand: both products pull, so that no thread writes where another does.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/logistic/by_hand.h"
#include "bench/logistic/logistic.h"

namespace kasen::bench {
namespace {

HandRows compressed(std::int64_t rows, const SparseInput& x) {  // whose entries stand by row
  HandRows made(rows, static_cast<std::int64_t>(x.rows.size()));
  for (const std::int64_t r : x.rows) ++made.pointers[static_cast<size_t>(r) + 1];
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) made.pointers[r + 1] += made.pointers[r];
  for (size_t e = 0; e < x.rows.size(); ++e) {
    made.place()[e] = static_cast<std::int32_t>(x.cols[e]);
    made.value()[e] = x.values[e];
  }
  return made;
}

}  // namespace

HandSamples hand_samples(const SparseInput& x, const std::vector<double>& labels, int threads) {
  HandRows by_row = compressed(x.row_count, x);
  HandRows by_col = transposed(by_row, x.col_count, threads);
  HandSamples made{x.row_count, x.col_count, std::move(by_row), std::move(by_col), {}, {}, {}};
  for (const double label : labels) made.target.push_back(label > 0 ? 1 : 0);
  made.e.resize(static_cast<size_t>(made.rows));
  made.w.resize(static_cast<size_t>(made.cols));
  return made;
}

HandRows::HandRows(std::int64_t rows, std::int64_t entries)
    : pointers(static_cast<size_t>(rows) + 1), places(entries * 4), values(entries * 8) {}

HandRows transposed(const HandRows& rows, std::int64_t cols, int threads) {
  const auto count = static_cast<std::int64_t>(rows.pointers.size()) - 1;
  const std::int64_t entries = rows.pointers.back();
  HandRows made(cols, entries);
  for (std::int64_t e = 0; e < entries; ++e) ++made.pointers[static_cast<size_t>(rows.place()[e]) + 1];
  for (size_t c = 0; c < static_cast<size_t>(cols); ++c) made.pointers[c + 1] += made.pointers[c];
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const auto column = [&](std::int64_t share) {  // before which that share of the entries stands
      const auto at = std::lower_bound(made.pointers.begin(), made.pointers.end() - 1, entries * share / threads);
      return static_cast<std::int32_t>(at - made.pointers.begin());
    };
    const std::int32_t begin = column(t), end = t + 1 == threads ? static_cast<std::int32_t>(cols) : column(t + 1);
    std::vector<std::int64_t> at(made.pointers.begin() + begin, made.pointers.begin() + end);
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t e = rows.pointers[static_cast<size_t>(r)]; e < rows.pointers[static_cast<size_t>(r) + 1]; ++e) {
        const std::int32_t c = rows.place()[e];
        if (c < begin || c >= end) continue;
        const std::int64_t to = at[static_cast<size_t>(c - begin)]++;
        made.place()[to] = static_cast<std::int32_t>(r);
        made.value()[to] = rows.value()[e];
      }
    }
  }
  return made;
}

void descend(HandSamples& s, double rate, int threads) {
  const double step = rate / static_cast<double>(s.rows);
  double *e = s.e.data(), *w = s.w.data();
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
  for (std::int64_t i = 0; i < s.rows; ++i) {
    e[i] = 1 / (1 + std::exp(-s.by_row.times(w, i))) - s.target[static_cast<size_t>(i)];
  }
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
  for (std::int64_t j = 0; j < s.cols; ++j) w[j] -= step * s.by_col.times(e, j);
}

Descending openmp_logistic(std::int64_t rows, std::int64_t cols, int threads) {
  auto samples =
      std::make_shared<HandSamples>(hand_samples(make_samples(rows, cols), make_labels("y", rows).values, threads));
  return [samples, threads] {
    std::fill(samples->w.begin(), samples->w.end(), 0);
    descend(*samples, descent_rate, threads);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t t = 1; t < descent_iterations; ++t) descend(*samples, descent_rate, threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return Descent{samples->w, time.count() / static_cast<double>(descent_iterations - 1)};
  };
}

}  // namespace kasen::bench
