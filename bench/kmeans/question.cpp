#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/kmeans/kmeans.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t points = 2'000'000;

void check(const std::string& name, double expected, double got) {
  if (!(std::fabs(got - expected) <= 1e-9 * expected)) {
    throw std::runtime_error(fmt::format("{}: the inertia is {}, not {}", name, got, expected));
  }
}

// Its time is that of an iteration, too, with its preparation shared among them.
void add_scikit(Question& made, std::int64_t count, std::int64_t columns, std::int64_t k, double inertia, int threads) {
  const auto peer = python_peer(
      "kmeans/scikit.py",
      {std::to_string(count), std::to_string(columns), std::to_string(k), std::to_string(lloyd_iterations)}, threads);
  if (!peer->missing().empty()) {
    made.missing.push_back({"scikit-learn", peer->missing()});
    return;
  }
  check("scikit-learn", inertia, peer->measure().at(1));
  made.contestants.push_back({"scikit-learn", [peer] { return peer->measure().at(0); }});
}

// examples/kmeans-matrix.ks over as many numbers.
Question matrix_question(std::int64_t columns, std::int64_t k, const Settings& settings) {
  const std::int64_t rows = points * coordinates / columns;
  const Lloyd kasen = kasen_kmeans_matrix(rows, columns, k, settings.threads);
  Question made{fmt::format("kmeans-matrix-{}-{}", columns, k), "ms/iteration", 1e3, {}, {}};
  made.contestants.push_back({"kasen", [kasen] { return kasen().seconds_per_iteration; }});
  add_scikit(made, rows, columns, k, kasen().inertia, settings.threads);
  return made;
}

Question question(std::int64_t k, const Settings& settings) {
  const std::vector<std::pair<std::string, Lloyd>> runs{
      {"kasen", kasen_kmeans(points, k, settings.threads, {})},
      {"openmp", openmp_kmeans(points, k, settings.threads, false)},
      {"openmp-512", openmp_kmeans(points, k, settings.threads, true)},
  };
  const Clustering expected = runs.back().second();
  Question made{fmt::format("kmeans-{}", k), "ms/iteration", 1e3, {}, {}};
  for (const auto& [name, run] : runs) {
    check(name, expected.inertia, run().inertia);
    made.contestants.push_back({name, [run = run] { return run().seconds_per_iteration; }});
  }
  add_scikit(made, points, coordinates, k, expected.inertia, settings.threads);
  return made;
}

}  // namespace

Questions kmeans_questions(const Settings& settings) {
  return {[=] { return question(10, settings); }, [=] { return question(20, settings); },
          [=] { return matrix_question(10, 10, settings); }, [=] { return matrix_question(50, 10, settings); }};
}

}  // namespace kasen::bench
