#include <algorithm>

#include "bench/pagerank/pagerank.h"
#include "libcomm/data/cut/partition.h"
#include "libcomm/data/read/readers.h"

namespace kasen::bench {

Graph read_graph(const std::string& file) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::null);
  const RawMatrix raw = read_matrix(file, options);
  Graph graph;
  graph.vertices = std::max(raw.row_count, raw.col_count);
  graph.from = raw.entries.rows();
  graph.to = raw.entries.cols();
  return graph;
}

Graph graph_of(std::int64_t vertices, const EdgeRuns& edges) {
  Graph graph;
  graph.vertices = vertices;
  for (const auto& run : edges.runs) {
    for (const std::uint64_t edge : run) {
      graph.from.push_back(static_cast<std::int64_t>(edge >> 32U));
      graph.to.push_back(static_cast<std::int64_t>(edge & 0xffffffffU));
    }
  }
  return graph;
}

std::vector<Part> cut_graph(const Graph& graph, int workers, PartitionMethod method) {
  InputData input;
  input.name = "G";
  input.dims = {"N", "N"};
  input.element = ElementType::of(Scalar::null);
  input.sparse = true;
  input.matrix.row_count = input.matrix.col_count = graph.vertices;
  input.matrix.entries = EntryList(graph.from, graph.to, Array(input.element, 0));
  std::vector<DimData> dims{{"N", false, graph.vertices, {}}};
  std::vector<InputData> inputs;
  inputs.push_back(std::move(input));
  return partition(dims, std::move(inputs), PartitionOptions{.workers = workers, .method = method});
}

}  // namespace kasen::bench
