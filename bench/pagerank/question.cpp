#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/endtoend/endtoend.h"
#include "bench/numbers.h"
#include "bench/pagerank/pagerank.h"
#include "bench/peer.h"
#include "datasets/edge_file.h"
#include "datasets/kinds.h"

namespace kasen::bench {
namespace {

struct Named {
  std::string name;
  Solver solve;
};

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

// A peer in another process answers with the iterations and two sums of the ranks instead of all ranks.
void check_sums(const std::string& name, const Ranks& expected, const std::vector<double>& answer) {
  double squares = 0, weighted = 0;
  for (size_t v = 0; v < expected.ranks.size(); ++v) {
    squares += expected.ranks[v] * expected.ranks[v];
    weighted += uniform(31, v) * expected.ranks[v];
  }
  const bool same = answer.at(1) == static_cast<double>(expected.iterations) &&
                    std::fabs(answer.at(2) - squares) <= 1e-11 * squares &&
                    std::fabs(answer.at(3) - weighted) <= 1e-11 * weighted;
  if (!same) {
    throw std::runtime_error(fmt::format("{}: {} iterations, sums {} and {}, not {}, {} and {}", name, answer.at(1),
                                         answer.at(2), answer.at(3), expected.iterations, squares, weighted));
  }
}

std::shared_ptr<Peer> numba_peer(const Graph& graph, double until, int threads) {
  const WorkFolder folder;  // the peer has read the file when it is ready
  EdgeRuns edges;
  auto& run = edges.runs.emplace_back();
  for (size_t e = 0; e < graph.from.size(); ++e) {
    run.push_back(static_cast<std::uint64_t>(graph.from[e]) << 32U | static_cast<std::uint64_t>(graph.to[e]));
  }
  EdgeFile(folder.file("edges.npy"), EdgeFormat::npy).write(edges);
  return python_peer("pagerank/numba_rank.py",
                     {folder.file("edges.npy"), std::to_string(graph.vertices), fmt::format("{:.17g}", until)},
                     threads);
}

Question on_graph(const std::string& name, const Graph& graph, double until, int threads) {
  const std::vector<Named> solvers{{"kasen", kasen_pagerank(graph, threads, until, true)},
                                   {"kasen-apart", kasen_pagerank(graph, threads, until, false)},
                                   {"openmp", openmp_pagerank(graph, threads, until)},
                                   {"openmp-4", openmp4_pagerank(graph, threads, until)},
                                   {"gap", gap_pagerank(graph, threads, until)},
                                   {"graphblas", graphblas_pagerank(graph, threads, until)}};
  const Ranks expected = solvers.back().solve();
  Question question{name, "ms/iteration", 1e3, {}, {}};
  for (const auto& [contestant, solve] : solvers) {
    check(contestant, expected, solve());
    question.contestants.push_back({contestant, [solve = solve] { return solve().seconds_per_iteration; }});
  }
  const auto peer = numba_peer(graph, until, threads);
  if (!peer->missing().empty()) {
    question.missing.push_back({"numba", peer->missing()});
    return question;
  }
  check_sums("numba", expected, peer->measure());
  question.contestants.push_back({"numba", [peer] { return peer->measure().at(0); }});
  return question;
}

// A graph of kasen generate, until the ranks change by so much a vertex: some 28 iterations.
struct Generated {
  std::string kind;
  GraphOptions options;
  double change = 0.01;

  [[nodiscard]] Question question(int threads) const {
    const std::int64_t vertices = std::int64_t{1} << options.scale;
    const Graph graph = graph_of(vertices, find_graph_kind(kind)->make(options));
    return on_graph("pagerank-" + kind, graph, change * static_cast<double>(vertices), threads);
  }
};

}  // namespace

Questions pagerank_questions(const Settings& settings) {
  const int threads = settings.threads;
  Questions made{[=] { return on_graph("pagerank", read_graph(settings.graph), theta, threads); }};
  const std::vector<Generated> graphs{{"rmat", {.scale = 20, .edges = 5'242'880}},
                                      {"uniform", {.scale = 19}},
                                      {"grid", {.scale = 20}, 1e-5},         // only the ranks near its borders change
                                      {"small-world", {.scale = 19}, 1e-5},  // nor do those of a ring
                                      {"communities", {.scale = 19}}};
  for (const Generated& graph : graphs) made.emplace_back([=] { return graph.question(threads); });
  return made;
}

}  // namespace kasen::bench
