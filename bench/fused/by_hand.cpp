#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/fused/fused.h"
#include "bench/numbers.h"
#include "libcore/system/memory.h"

namespace kasen::bench {
namespace {

using Vector [[gnu::vector_size(64)]] = double;
using Bits [[gnu::vector_size(64)]] = std::int64_t;

struct Three {  // vectors, aligned and on huge pages, as Kasen's are
  std::int64_t n;
  std::array<Bytes, 3> memory;

  explicit Three(std::int64_t count) : n(count / 16 * 16), memory{Bytes(n * 8), Bytes(n * 8), Bytes(n * 8)} {}
  // Each with one of the inputs.
  void fill(int first, int second, int third) {
    const std::array<int, 3> inputs{first, second, third};
    for (int v = 0; v < 3; ++v) {
      for (std::int64_t i = 0; i < n; ++i) of(v)[i] = fused_element(inputs[static_cast<size_t>(v)], i);
    }
  }
  [[nodiscard]] double* of(int v) { return reinterpret_cast<double*>(memory[static_cast<size_t>(v)].data()); }
  [[nodiscard]] Vector* wide(int v) { return reinterpret_cast<Vector*>(of(v)); }
};

double lanes_sum(const Vector& v) {
  double sum = 0;
  for (int l = 0; l < 8; ++l) sum += v[l];
  return sum;
}

double sum3(Three& t, double factor, int threads) {
  const Vector *x = t.wide(0), *y = t.wide(1), *z = t.wide(2);
  double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) num_threads(threads)
  for (std::int64_t b = 0; b < t.n / 8; b += 4096) {
    Vector even{}, odd{};
    const std::int64_t end = std::min(t.n / 8, b + 4096);
    for (std::int64_t i = b; i < end; i += 2) {
      even += factor * x[i] * y[i] * z[i];
      odd += factor * x[i + 1] * y[i + 1] * z[i + 1];
    }
    total += lanes_sum(even + odd);
  }
  return total;
}

double read3(Three& t, int threads) {
  const auto *x = reinterpret_cast<const Bits*>(t.of(0)), *y = reinterpret_cast<const Bits*>(t.of(1)),
             *z = reinterpret_cast<const Bits*>(t.of(2));
  std::int64_t seen = 0;
#pragma omp parallel for schedule(static) reduction(| : seen) num_threads(threads)
  for (std::int64_t b = 0; b < t.n / 8; b += 4096) {
    Bits all{};
    const std::int64_t end = std::min(t.n / 8, b + 4096);
    for (std::int64_t i = b; i < end; ++i) all |= x[i] | y[i] | z[i];
    for (int l = 0; l < 8; ++l) seen |= all[l];
  }
  return static_cast<double>(seen);
}

// pr, share: in place.
double region(Three& t, int threads) {
  Vector *pr = t.wide(0), *share = t.wide(1);
  const Vector* degree = t.wide(2);
  double change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change) num_threads(threads)
  for (std::int64_t b = 0; b < t.n / 8; b += 4096) {
    Vector sum{};
    const std::int64_t end = std::min(t.n / 8, b + 4096);
    for (std::int64_t i = b; i < end; ++i) {
      const Vector next = 0.15 + 0.85 * share[i];
      const Vector apart = pr[i] - next;
      sum += apart < 0 ? -apart : apart;
      pr[i] = next;
      share[i] = next / degree[i];
    }
    change += lanes_sum(sum);
  }
  return change;
}

double move(Three& t, int threads) {
  auto *x = reinterpret_cast<Bits*>(t.of(0)), *y = reinterpret_cast<Bits*>(t.of(1));
  const auto* z = reinterpret_cast<const Bits*>(t.of(2));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < t.n / 8; ++i) {
    const Bits mixed = x[i] ^ y[i] ^ z[i];
    x[i] = mixed;
    y[i] = ~mixed;
  }
  return 0;
}

template <class Start, class Work>
Passes timed(std::int64_t n, const Start& begin, const Work& work) {
  auto data = std::make_shared<Three>(n);
  return [data, begin, work] {
    Pass made;
    begin(*data);
    work(*data, 0);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 1; k < fused_passes; ++k) made.result = work(*data, static_cast<double>(k));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    made.seconds = time.count() / static_cast<double>(fused_passes - 1);
    return made;
  };
}

}  // namespace

double fused_element(int place, std::int64_t i) {
  return 1 + uniform(static_cast<std::uint64_t>(41 + place), static_cast<std::uint64_t>(i));
}

Passes sum3_by_hand(std::int64_t n, int threads, bool only_read) {
  const auto begin = [](Three& t) {
    if (t.of(0)[0] == 0) t.fill(0, 1, 2);
  };
  return timed(n, begin, [=](Three& t, double k) { return only_read ? read3(t, threads) : sum3(t, k, threads); });
}

Passes region_by_hand(std::int64_t n, int threads, bool only_move) {
  const auto begin = [](Three& t) { t.fill(0, 0, 1); };
  return timed(n, begin, [=](Three& t, double) { return only_move ? move(t, threads) : region(t, threads); });
}

}  // namespace kasen::bench
