#include <functional>

#include "libopt/spread/search.h"

namespace kasen::spread {
namespace {

// The vertices stand in an order in which they can run.
Plan place_in_order(const Graph& graph, const Cluster& cluster, std::string name,
                    const std::function<WorkerId(const Vertex&)>& worker_of) {
  Placement placement(graph, cluster, Pairing::in_order);
  for (const VertexId id : graph.vertices().ids()) {
    const Vertex& vertex = graph.vertices()[id];
    const std::size_t operators = placement.is_sum(id) ? vertex.inputs.size() - 1 : 1;
    for (std::size_t i = 0; i < operators; ++i) {
      const WorkerId next = worker_of(vertex);
      const Pair pair = placement.is_sum(id) ? placement.pairs(id).front() : Pair{};
      placement.commit({id, placement.is_fixed(id) ? vertex.owner : next, pair, {}});
    }
  }
  return placement.take(std::move(name));
}

}  // namespace

Plan place_at_owners(const Graph& graph, const Cluster& cluster) {
  int next = 0;  // what has no layout is dealt out
  return place_in_order(graph, cluster, "owner", [&](const Vertex& vertex) {
    return vertex.owner >= 0 ? vertex.owner : WorkerId(next++ % cluster.size());
  });
}

Plan place_round_robin(const Graph& graph, const Cluster& cluster) {
  int next = 0;
  return place_in_order(graph, cluster, "round-robin",
                        [&](const Vertex&) { return WorkerId(next++ % cluster.size()); });
}

}  // namespace kasen::spread
