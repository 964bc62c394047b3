// Turns of Lloyd's algorithm on the same points from the same first centroids, points i * (n / k). Each contestant's
// time is that of one turn.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/driver.h"
#include "bench/numbers.h"
#include "libopt/optimize.h"

namespace kasen::bench {

constexpr std::int64_t coordinates = 10;
constexpr std::int64_t lloyd_turns = 6;

// Coordinate j of point i: a cloud around one of 64 places.
[[nodiscard]] inline double coordinate(std::int64_t i, std::int64_t j) {
  const auto point = static_cast<std::uint64_t>(i), axis = static_cast<std::uint64_t>(j);
  return 4 * uniform(100 + axis, point % 64) + uniform(axis, point);
}

struct Clustering {
  double inertia = 0;  // sum of squared distances to the centroids after the last turn
  double seconds_per_turn = 0;
};

using Lloyd = std::function<Clustering()>;
[[nodiscard]] Lloyd kasen_kmeans(std::int64_t points, std::int64_t k, int threads, const OptimizeOptions& options);
// Vectorised over points in blocks, coordinates in planes as Kasen has them; with the compiler's choice of vectors, or
// with 512-bit ones asked for.
[[nodiscard]] Lloyd openmp_kmeans(std::int64_t points, std::int64_t k, int threads, bool wide);

}  // namespace kasen::bench
