// Lloyd's algorithm by hand: blocks of points that stay in the first cache; distances vectorised over points, sums by
// adding each point to its cluster's.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>

#include "bench/kmeans/kmeans.h"
#include "libcore/system/memory.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t block = 256;

struct Sums {
  std::array<std::array<double, coordinates + 1>, most_clusters> of{};  // coordinates, then the number of points
  double inertia = 0;
};

using Centroids = std::array<std::array<double, coordinates>, most_clusters>;
using Planes = PointPlanes;

// `count` points from `first` on: the nearest centroid of each, and its squared distance.
[[gnu::always_inline]] inline void nearest(const Planes& x, const Centroids& c, std::int64_t k, std::int64_t first,
                                           std::int64_t count, double* best, std::int64_t* cluster) {
  std::fill_n(best, count, std::numeric_limits<double>::infinity());
  std::fill_n(cluster, count, 0);
  for (std::int64_t j = 0; j < k; ++j) {
    const auto& centre = c[static_cast<size_t>(j)];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      double distance = 0;
#pragma GCC unroll 16
      for (size_t a = 0; a < coordinates; ++a) {
        const double apart = x[a][first + i] - centre[a];
        distance += apart * apart;
      }
      const bool nearer = distance < best[i];
      best[i] = nearer ? distance : best[i];
      cluster[i] = nearer ? j : cluster[i];
    }
  }
}

[[gnu::always_inline]] inline void take(const Planes& x, const Centroids& c, std::int64_t k, std::int64_t begin,
                                        std::int64_t end, Sums& sums, std::int64_t* labels) {
  alignas(64) std::array<double, block> best;
  alignas(64) std::array<std::int64_t, block> cluster;
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t count = std::min(block, end - first);
    nearest(x, c, k, first, count, best.data(), cluster.data());
    for (std::int64_t i = 0; i < count; ++i) {
      auto& sum = sums.of[static_cast<size_t>(cluster[static_cast<size_t>(i)])];
      for (size_t a = 0; a < coordinates; ++a) sum[a] += x[a][first + i];
      sum[coordinates] += 1;
      sums.inertia += best[static_cast<size_t>(i)];
    }
    if (labels != nullptr) std::copy_n(cluster.data(), count, labels + first);
  }
}

void take_native(const Planes& x, const Centroids& c, std::int64_t k, std::int64_t begin, std::int64_t end, Sums& sums,
                 std::int64_t* labels) {
  take(x, c, k, begin, end, sums, labels);
}

#ifdef __AVX512F__
[[gnu::target("prefer-vector-width=512")]]
#endif
void take_wide(const Planes& x, const Centroids& c, std::int64_t k, std::int64_t begin, std::int64_t end, Sums& sums,
               std::int64_t* labels) {
  take(x, c, k, begin, end, sums, labels);
}

Sums iteration(const Planes& x, const Centroids& c, std::int64_t k, std::int64_t n, int threads, bool wide,
               std::int64_t* labels = nullptr) {
  Sums total;
  const auto work = wide ? take_wide : take_native;
#pragma omp parallel num_threads(threads)
  {
    Sums own;
#pragma omp for schedule(static)
    for (std::int64_t b = 0; b < (n + 16 * block - 1) / (16 * block); ++b) {
      work(x, c, k, b * 16 * block, std::min(n, (b + 1) * 16 * block), own, labels);
    }
#pragma omp critical
    {
      for (size_t j = 0; j < static_cast<size_t>(k); ++j) {
        for (size_t a = 0; a <= coordinates; ++a) total.of[j][a] += own.of[j][a];
      }
      total.inertia += own.inertia;
    }
  }
  return total;
}

void move(Centroids& c, const Sums& sums, std::int64_t k) {
  for (size_t j = 0; j < static_cast<size_t>(k); ++j) {
    const auto& sum = sums.of[j];
    for (size_t a = 0; sum[coordinates] > 0 && a < coordinates; ++a) c[j][a] = sum[a] / sum[coordinates];
  }
}

}  // namespace

Clustering lloyd_by_hand(const PointPlanes& x, std::int64_t points, std::int64_t k, std::int64_t iterations,
                         int threads, bool wide, std::int64_t* labels) {
  Centroids c{};
  for (std::int64_t j = 0; j < k; ++j) {
    for (size_t a = 0; a < coordinates; ++a) c[static_cast<size_t>(j)][a] = x[a][j * (points / k)];
  }
  move(c, iteration(x, c, k, points, threads, wide), k);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t < iterations; ++t) move(c, iteration(x, c, k, points, threads, wide), k);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return {iteration(x, c, k, points, threads, wide, labels).inertia,
          time.count() / static_cast<double>(iterations - 1)};
}

Lloyd openmp_kmeans(std::int64_t points, std::int64_t k, int threads, bool wide) {
  // Aligned and on huge pages, as Kasen's are; planes do not begin at the same place of a page, which the cache
  // resents.
  const std::int64_t stride = (points * 8 + 63) / 64 * 64 + 512;
  auto planes = std::make_shared<Bytes>(coordinates * stride);
  Planes x{};
  for (std::int64_t j = 0; j < coordinates; ++j) {
    auto* plane = reinterpret_cast<double*>(planes->data() + j * stride);
    for (std::int64_t i = 0; i < points; ++i) plane[i] = coordinate(i, j);
    x[static_cast<size_t>(j)] = plane;
  }
  return [planes, x, points, k, threads, wide] { return lloyd_by_hand(x, points, k, lloyd_iterations, threads, wide); };
}

}  // namespace kasen::bench
