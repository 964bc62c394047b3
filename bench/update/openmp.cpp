// The update by hand.
#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/update/update.h"
#include "libcore/system/memory.h"

namespace kasen::bench {
namespace {

void plain_pass(const double* x, const double* y, double* z, double k, std::int64_t n, int threads) {
#pragma omp parallel for simd schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < n; ++i) z[i] = x[i] + k * y[i];
}

void streaming_pass(const double* x, const double* y, double* z, double k, std::int64_t n, int threads) {
  using Vector [[gnu::vector_size(64)]] = double;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < n / 8; ++i) {
    const Vector sum = reinterpret_cast<const Vector*>(x)[i] + k * reinterpret_cast<const Vector*>(y)[i];
#ifdef __AVX512F__
    __builtin_ia32_movntpd512(z + 8 * i, sum);
#else
    reinterpret_cast<Vector*>(z)[i] = sum;
#endif
  }
#ifdef __AVX512F__
  __builtin_ia32_sfence();
#endif
  for (std::int64_t i = n / 8 * 8; i < n; ++i) z[i] = x[i] + k * y[i];
}

}  // namespace

Update openmp_update(const std::vector<double>& x, const std::vector<double>& y, int threads, bool past_caches) {
  const auto n = static_cast<std::int64_t>(x.size());
  struct Arrays {  // aligned and on huge pages, as Kasen's are
    Bytes x, y, z;
  };
  auto arrays = std::make_shared<Arrays>(Arrays{Bytes(n * 8), Bytes(n * 8), Bytes(n * 8)});
  const auto data = [](Bytes& bytes) { return reinterpret_cast<double*>(bytes.data()); };
  std::copy(x.begin(), x.end(), data(arrays->x));
  std::copy(y.begin(), y.end(), data(arrays->y));
  return [arrays, data, n, threads, past_caches] {
    const double *from = data(arrays->x), *other = data(arrays->y);
    double* z = data(arrays->z);
    const auto pass = past_caches ? streaming_pass : plain_pass;
    pass(from, other, z, 0, n, threads);  // touches memory for the first time
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 1; k < update_passes; ++k) pass(from, other, z, static_cast<double>(k), n, threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return UpdateResult{{z, z + n}, time.count() / static_cast<double>(update_passes - 1)};
  };
}

}  // namespace kasen::bench
