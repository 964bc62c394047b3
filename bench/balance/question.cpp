// PageRank's iteration on graphs whose entries lie unevenly, on one thread and on as many as asked for: with two, 0.5
// of the time is all that threads can give.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/numbers.h"
#include "bench/pagerank/pagerank.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t vertices = 1'000'000;

void link(Graph& graph, std::int64_t from, std::int64_t to) {
  graph.from.push_back(from);
  graph.to.push_back(to);
}

// A ring, so that every vertex has an arc, and arcs between `hubs` vertices and all others.
Graph star(std::int64_t hubs, bool inward) {
  Graph graph{vertices, {}, {}};
  for (std::int64_t v = 0; v < vertices; ++v) link(graph, v, (v + 1) % vertices);
  for (std::int64_t h = 0; h < hubs; ++h) {
    const std::int64_t hub = vertices / 3 + h;
    for (std::int64_t v = 0; v < vertices; v += hubs) {
      const std::int64_t other = (v + h) % vertices;
      if (other == hub || (inward ? hub - other : other - hub) == 1) continue;
      link(graph, inward ? other : hub, inward ? hub : other);
    }
  }
  return graph;
}

// In-degrees fall with the 0.9th power of a vertex's number: those with most entries lie together.
Graph power_law() {
  Graph graph{vertices, {}, {}};
  for (std::int64_t v = 0; v < vertices; ++v) {
    const auto degree = 1 + static_cast<std::int64_t>(300'000 / std::pow(static_cast<double>(v + 1), 0.9));
    const std::int64_t step = vertices / degree;
    for (std::int64_t k = 0; k < degree && k * step < vertices; ++k) link(graph, (v + 7 + k * step) % vertices, v);
  }
  return graph;
}

Question question(const std::string& name, const Graph& graph, const Settings& settings) {
  const Solver all = kasen_pagerank(graph, settings.threads, theta, true),
               alone = kasen_pagerank(graph, 1, theta, true);
  const Solver plain = openmp_pagerank(graph, settings.threads, theta);
  const Ranks expected = plain(), first = all(), second = alone();
  for (size_t v = 0; v < expected.ranks.size(); ++v) {
    if (first.ranks[v] == second.ranks[v] &&
        std::fabs(first.ranks[v] - expected.ranks[v]) <= 1e-9 * std::fabs(expected.ranks[v]))
      continue;
    throw std::runtime_error(fmt::format("balance-{}: vertex {} has ranks {} and {}, not {}", name, v, first.ranks[v],
                                         second.ranks[v], expected.ranks[v]));
  }
  Question made{"balance-" + name, "ms/iteration", 1e3, {}, {}};
  made.contestants.push_back({"kasen", [all] { return all().seconds_per_iteration; }});
  made.contestants.push_back({"kasen-alone", [alone] { return alone().seconds_per_iteration; }});
  made.contestants.push_back({"openmp", [plain] { return plain().seconds_per_iteration; }});
  return made;
}

}  // namespace

Questions balance_questions(const Settings& settings) {
  return {[=] { return question("star-in", star(1, true), settings); },
          [=] { return question("star-out", star(1, false), settings); },
          [=] { return question("hubs-in", star(40, true), settings); },
          [=] { return question("power", power_law(), settings); }};
}

}  // namespace kasen::bench
