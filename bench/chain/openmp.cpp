// The chain fused by hand into one loop.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/chain/chain.h"
#include "libcore/system/memory.h"

namespace kasen::bench {
namespace {

double pass(const double* x, double* y, std::int64_t n, int threads) {
  double total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total) num_threads(threads)
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = scale * x[i] + y[i];
    const double u = t > 0 ? t : 0;
    const double v = u * u - y[i];
    y[i] = std::sqrt(std::fabs(v)) / (1 + u);
    total += y[i];
  }
  return total;
}

}  // namespace

Chain openmp_chain(const ChainInput& input, int threads) {
  const auto n = static_cast<std::int64_t>(input.x.size());
  struct Arrays {  // aligned and on huge pages, as Kasen's are
    Bytes x, y, start;
  };
  auto arrays = std::make_shared<Arrays>(Arrays{Bytes(n * 8), Bytes(n * 8), Bytes(n * 8)});
  const auto data = [](Bytes& bytes) { return reinterpret_cast<double*>(bytes.data()); };
  std::copy(input.x.begin(), input.x.end(), data(arrays->x));
  std::copy(input.y.begin(), input.y.end(), data(arrays->start));
  return [arrays, data, n, threads] {
    const double* x = data(arrays->x);
    double* y = data(arrays->y);
    std::copy(data(arrays->start), data(arrays->start) + n, y);
    ChainResult result;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 0; k < passes; ++k) result.total = pass(x, y, n, threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_pass = time.count() / static_cast<double>(passes);
    result.y.assign(y, y + n);
    return result;
  };
}

}  // namespace kasen::bench
