// PageRank on two ranks of one thread each beside one rank of all threads, the graph cut by hybrid-cut and by ml. One
// job measures the ranks with exchanges overlapped and not (ranks.cpp).
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench/pagerank/pagerank.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

Question on_ranks(const Settings& settings, const std::string& method) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"})
    setenv(name, "1", 0);
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kasen-bench-pagerank-ranks").string();
  const auto ranks = std::make_shared<Peer>(std::vector<std::string>{"mpirun", "-n", "2", program, settings.graph,
                                                                     method, KASEN_SOURCE_ROOT "/examples/pagerank.ks"},
                                            1);
  const Solver one_rank = kasen_pagerank(read_graph(settings.graph), settings.threads, theta, true);
  const auto last = std::make_shared<std::vector<double>>(ranks->measure());
  const Ranks expected = one_rank();
  double squares = 0;
  for (const double rank : expected.ranks) squares += rank * rank;
  if (std::fabs(last->at(2) - squares) > 1e-9 * squares || last->at(3) != static_cast<double>(expected.iterations)) {
    throw std::runtime_error(fmt::format("two ranks, {}: {} in {} turns, not {} in {}", method, last->at(2),
                                         last->at(3), squares, expected.iterations));
  }
  Question question{"pagerank-ranks-" + method, "ms/iteration", 1e3, {}, {}};
  question.contestants.push_back({"kasen", [=] {
                                    *last = ranks->measure();
                                    return last->at(0);
                                  }});
  question.contestants.push_back({"kasen-waiting", [=] { return last->at(1); }});
  question.contestants.push_back({"one-rank", [=] { return one_rank().seconds_per_iteration; }});
  return question;
}

}  // namespace

Questions pagerank_ranks_questions(const Settings& settings) {
  Questions made;
  for (const char* method : {"hybrid-cut", "ml"}) {
    made.emplace_back([=] { return on_ranks(settings, method); });
  }
  return made;
}

}  // namespace kasen::bench
