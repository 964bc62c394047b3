// What one would write by hand: a pull loop over compressed rows with all of an iteration's vector work fused into it.
// A row's sum is one chain of additions, or four chains, which do not wait for one another.
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/pagerank/by_hand.h"

namespace kasen::bench {
namespace {

struct State {
  HandLinks links;
  Bytes rank, next_rank, share, next_share;

  explicit State(const Graph& graph)
      : links(graph), rank(links.n * 8), next_rank(links.n * 8), share(links.n * 8), next_share(links.n * 8) {}
};

template <int chains>
double row_sum(const std::int32_t* sources, std::int64_t begin, std::int64_t end, const double* share) {
  std::array<double, chains> sums{};
  std::int64_t e = begin;
  for (; e + chains <= end; e += chains) {
    for (int k = 0; k < chains; ++k) sums[static_cast<std::size_t>(k)] += share[sources[e + k]];
  }
  for (; e < end; ++e) sums[0] += share[sources[e]];
  if constexpr (chains == 4) return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sums[0];
}

template <int chains>
double iterate(const HandLinks& links, const double* share, const double* rank, double* next_rank, double* next_share,
               int threads) {
  const std::int64_t* pointers = links.pointers.data();
  const std::int32_t* sources = links.source();
  const double* degree = links.degree.data();
  double change = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : change) num_threads(threads)
  for (std::int64_t v = 0; v < links.n; ++v) {
    const double value = (1 - damping) + damping * row_sum<chains>(sources, pointers[v], pointers[v + 1], share);
    change += std::fabs(rank[v] - value);
    next_rank[v] = value;
    next_share[v] = value / degree[v];
  }
  return change;
}

template <int chains>
Solver solver(const Graph& graph, int threads, double until) {
  auto state = std::make_shared<State>(graph);
  return [state, threads, until] {
    const HandLinks& links = state->links;
    const auto data = [](Bytes& bytes) { return reinterpret_cast<double*>(bytes.data()); };
    double *rank = data(state->rank), *next_rank = data(state->next_rank);
    double *share = data(state->share), *next_share = data(state->next_share);
    for (std::int64_t v = 0; v < links.n; ++v) {
      rank[v] = 1;
      share[v] = 1 / links.degree[static_cast<std::size_t>(v)];
    }
    Ranks result;
    const auto start = std::chrono::steady_clock::now();
    for (double change = until + 1; change > until; ++result.iterations) {
      change = iterate<chains>(links, share, rank, next_rank, next_share, threads);
      std::swap(rank, next_rank);
      std::swap(share, next_share);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_iteration = time.count() / static_cast<double>(result.iterations);
    result.ranks.assign(rank, rank + links.n);
    return result;
  };
}

}  // namespace

Solver openmp_pagerank(const Graph& graph, int threads, double until) { return solver<1>(graph, threads, until); }

Solver openmp4_pagerank(const Graph& graph, int threads, double until) { return solver<4>(graph, threads, until); }

}  // namespace kasen::bench
