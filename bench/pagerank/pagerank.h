// PageRank as examples/pagerank.ks states it (unnormalised; pages without outgoing links lose their rank), until the
// ranks change by at most `until` in sum. Each contestant's time is that of one iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/driver.h"
#include "datasets/edge_runs.h"
#include "libcore/data/data.h"

namespace kasen {
enum class PartitionMethod : std::uint8_t;  // libcomm/data/cut/partition.h
}

namespace kasen::bench {

struct Graph {
  std::int64_t vertices = 0;
  std::vector<std::int64_t> from, to;  // one link each, without repeats
};

[[nodiscard]] Graph read_graph(const std::string& file);
[[nodiscard]] Graph graph_of(std::int64_t vertices, const EdgeRuns& edges);
[[nodiscard]] std::vector<Part> cut_graph(const Graph& graph, int workers, PartitionMethod method);

struct Ranks {
  std::vector<double> ranks;
  std::int64_t iterations = 0;
  double seconds_per_iteration = 0;
};

constexpr double damping = 0.85;
constexpr double theta = 1e-3;  // of the graph of Settings

using Solver = std::function<Ranks()>;
// With the vector work behind the rows of the product (product_epilogue regions), or in a loop of its own.
[[nodiscard]] Solver kasen_pagerank(const Graph& graph, int threads, double until, bool epilogue);
[[nodiscard]] Solver openmp_pagerank(const Graph& graph, int threads, double until);
[[nodiscard]] Solver openmp4_pagerank(const Graph& graph, int threads, double until);  // four sums a row
[[nodiscard]] Solver gap_pagerank(const Graph& graph, int threads, double until);
[[nodiscard]] Solver graphblas_pagerank(const Graph& graph, int threads, double until);

}  // namespace kasen::bench
