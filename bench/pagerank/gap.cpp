// The method that the GAP Benchmark Suite states for PageRank (Beamer, Asanović, Patterson, arXiv:1508.03619) in its
// form that multiplies (Jacobi): a pass gives each vertex's contribution to those it links to, another pulls them in.
// All is in double precision.
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/pagerank/by_hand.h"

namespace kasen::bench {
namespace {

struct State {
  HandLinks links;
  Bytes scores, contributions;

  explicit State(const Graph& graph) : links(graph), scores(links.n * 8), contributions(links.n * 8) {}
};

double iterate(const HandLinks& links, double* scores, double* contributions, int threads) {
  const std::int64_t* pointers = links.pointers.data();
  const std::int32_t* sources = links.source();
  const double* degree = links.degree.data();
  double error = 0;
#pragma omp parallel for num_threads(threads)
  for (std::int64_t v = 0; v < links.n; ++v) contributions[v] = scores[v] / degree[v];
#pragma omp parallel for schedule(dynamic, 16384) reduction(+ : error) num_threads(threads)
  for (std::int64_t v = 0; v < links.n; ++v) {
    double incoming = 0;
    for (std::int64_t e = pointers[v]; e < pointers[v + 1]; ++e) incoming += contributions[sources[e]];
    const double old = scores[v];
    scores[v] = (1 - damping) + damping * incoming;
    error += std::fabs(scores[v] - old);
  }
  return error;
}

}  // namespace

Solver gap_pagerank(const Graph& graph, int threads, double until) {
  auto state = std::make_shared<State>(graph);
  return [state, threads, until] {
    auto* scores = reinterpret_cast<double*>(state->scores.data());
    auto* contributions = reinterpret_cast<double*>(state->contributions.data());
    std::fill(scores, scores + state->links.n, 1.0);
    Ranks result;
    const auto start = std::chrono::steady_clock::now();
    for (double error = until + 1; error > until; ++result.iterations) {
      error = iterate(state->links, scores, contributions, threads);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_iteration = time.count() / static_cast<double>(result.iterations);
    result.ranks.assign(scores, scores + state->links.n);
    return result;
  };
}

}  // namespace kasen::bench
