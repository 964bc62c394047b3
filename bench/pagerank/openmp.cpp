// What one would write by hand: a pull loop over compressed rows with all of an iteration's vector work fused into it.
#include <chrono>
#include <cmath>
#include <memory>

#include "bench/pagerank/pagerank.h"
#include "libcore/system/memory.h"

namespace kasen::bench {
namespace {

struct Links {  // of each vertex, those that link to it
  std::int64_t n = 0;
  std::vector<std::int64_t> pointers;
  Bytes sources;
  std::vector<double> degree;
  Bytes rank, next_rank, share, next_share;  // aligned and on huge pages, as Kasen's are

  explicit Links(const Graph& graph)
      : n(graph.vertices),
        pointers(static_cast<size_t>(n) + 1),
        sources(static_cast<std::int64_t>(graph.to.size()) * 4),
        degree(static_cast<size_t>(n)),
        rank(n * 8),
        next_rank(n * 8),
        share(n * 8),
        next_share(n * 8) {
    for (const std::int64_t v : graph.to) ++pointers[static_cast<size_t>(v) + 1];
    for (const std::int64_t v : graph.from) ++degree[static_cast<size_t>(v)];
    for (size_t v = 0; v < static_cast<size_t>(n); ++v) pointers[v + 1] += pointers[v];
    std::vector<std::int64_t> at(pointers.begin(), pointers.end() - 1);
    auto* list = reinterpret_cast<std::int32_t*>(sources.data());
    for (size_t e = 0; e < graph.to.size(); ++e) {
      list[at[static_cast<size_t>(graph.to[e])]++] = static_cast<std::int32_t>(graph.from[e]);
    }
  }
};

double iterate(const Links& links, const double* share, const double* rank, double* next_rank, double* next_share,
               int threads) {
  const std::int64_t* pointers = links.pointers.data();
  const auto* sources = reinterpret_cast<const std::int32_t*>(links.sources.data());
  const double* degree = links.degree.data();
  double change = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : change) num_threads(threads)
  for (std::int64_t v = 0; v < links.n; ++v) {
    double sum = 0;
    for (std::int64_t e = pointers[v]; e < pointers[v + 1]; ++e) sum += share[sources[e]];
    const double value = (1 - damping) + damping * sum;
    change += std::fabs(rank[v] - value);
    next_rank[v] = value;
    next_share[v] = value / degree[v];
  }
  return change;
}

}  // namespace

Solver openmp_pagerank(const Graph& graph, int threads, double until) {
  auto links = std::make_shared<Links>(graph);
  return [links, threads, until] {
    const auto data = [](Bytes& bytes) { return reinterpret_cast<double*>(bytes.data()); };
    double *rank = data(links->rank), *next_rank = data(links->next_rank);
    double *share = data(links->share), *next_share = data(links->next_share);
    for (std::int64_t v = 0; v < links->n; ++v) {
      rank[v] = 1;
      share[v] = 1 / links->degree[static_cast<size_t>(v)];
    }
    Ranks result;
    const auto start = std::chrono::steady_clock::now();
    for (double change = until + 1; change > until; ++result.iterations) {
      change = iterate(*links, share, rank, next_rank, next_share, threads);
      std::swap(rank, next_rank);
      std::swap(share, next_share);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_iteration = time.count() / static_cast<double>(result.iterations);
    result.ranks.assign(rank, rank + links->n);
    return result;
  };
}

}  // namespace kasen::bench
