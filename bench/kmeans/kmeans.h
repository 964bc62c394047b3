// Turns of Lloyd's algorithm on the same points from the same first centroids, points i * (n / k). Each contestant's
// time is that of one iteration.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/driver.h"
#include "bench/numbers.h"
#include "libopt/optimize/optimize.h"

namespace kasen::bench {

constexpr std::int64_t coordinates = 10;
constexpr std::int64_t lloyd_iterations = 6;

// Coordinate j of point i: a cloud around one of 64 places.
[[nodiscard]] inline double coordinate(std::int64_t i, std::int64_t j) {
  const auto point = static_cast<std::uint64_t>(i), axis = static_cast<std::uint64_t>(j);
  return 4 * uniform(100 + axis, point % 64) + uniform(axis, point);
}

struct Clustering {
  double inertia = 0;  // sum of squared distances to the centroids after the last iteration
  double seconds_per_iteration = 0;
};

constexpr std::int64_t most_clusters = 64;  // of the one by hand
using PointPlanes = std::array<const double*, coordinates>;

// That many iterations by hand, blocks of points that stay in the first cache; the time is that of an iteration but the
// first. `labels`, where not null, gets each point's cluster. `wide`: with 512-bit vectors, else with the compiler's
// choice.
[[nodiscard]] Clustering lloyd_by_hand(const PointPlanes& x, std::int64_t points, std::int64_t k,
                                       std::int64_t iterations, int threads, bool wide, std::int64_t* labels = nullptr);

// Those points on one worker.
[[nodiscard]] std::vector<Part> points_on_one_part(std::int64_t points);

using Lloyd = std::function<Clustering()>;
[[nodiscard]] Lloyd kasen_kmeans(std::int64_t points, std::int64_t k, int threads, const OptimizeOptions& options);
// In matrix form, on points of so many coordinates.
[[nodiscard]] Lloyd kasen_kmeans_matrix(std::int64_t points, std::int64_t columns, std::int64_t k, int threads);
// Vectorised over points in blocks, coordinates in planes as Kasen has them; with the compiler's choice of vectors, or
// with 512-bit ones asked for.
[[nodiscard]] Lloyd openmp_kmeans(std::int64_t points, std::int64_t k, int threads, bool wide);

}  // namespace kasen::bench
