#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/pagerank/pagerank.h"

namespace kasen::bench {
namespace {

void check(const std::string& name, const Ranks& expected, const Ranks& got) {
  if (got.ranks.size() != expected.ranks.size()) throw std::runtime_error(name + ": another number of vertices");
  if (got.iterations != expected.iterations) {
    throw std::runtime_error(fmt::format("{}: {} iterations, not {}", name, got.iterations, expected.iterations));
  }
  for (size_t v = 0; v < expected.ranks.size(); ++v) {
    if (std::fabs(got.ranks[v] - expected.ranks[v]) > 1e-12 * std::fabs(expected.ranks[v])) {
      throw std::runtime_error(
          fmt::format("{}: vertex {} has rank {}, not {}", name, v, got.ranks[v], expected.ranks[v]));
    }
  }
}

}  // namespace

Question pagerank_question(const Settings& settings) {
  const Graph graph = read_graph(settings.graph);
  const std::vector<std::pair<std::string, Solver>> solvers{
      {"kasen", kasen_pagerank(graph, settings.threads, true)},
      {"kasen-apart", kasen_pagerank(graph, settings.threads, false)},
      {"openmp", openmp_pagerank(graph, settings.threads)},
      {"graphblas", graphblas_pagerank(graph, settings.threads)},
  };
  const Ranks expected = solvers.back().second();
  Question question{"pagerank", "ms/iteration", 1e3, {}};
  for (const auto& [name, solve] : solvers) {
    check(name, expected, solve());
    question.contestants.push_back({name, [solve] { return solve().seconds_per_iteration; }});
  }
  return question;
}

}  // namespace kasen::bench
