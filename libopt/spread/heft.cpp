#include <algorithm>
#include <array>
#include <utility>

#include "libcore/base/error.h"
#include "libopt/spread/search.h"

namespace kasen::spread {
namespace {

// Times are in thousandths of an element, too.
class Heft {
 public:
  Heft(const Graph& graph, const Cluster& cluster, Pairing pairing)
      : graph_(graph),
        placement_(graph, cluster, pairing),
        rank_(graph.vertices().size()),
        made_(graph.objects_and_partials()),
        free_(static_cast<std::size_t>(cluster.size())) {}

  Plan run() {
    for (const VertexId vertex : in_rank_order()) {
      if (!placement_.is_sum(vertex)) {
        place(vertex, {}, graph_.vertices()[vertex].inputs, graph_.vertices()[vertex].output);
        continue;
      }
      for (std::size_t i = 0; i + 1 < graph_.vertices()[vertex].inputs.size(); ++i) {
        const Pair pair = earliest_pair(vertex);
        place(vertex, pair, std::array{pair.left, pair.right}, graph_.partial(vertex, i));
      }
    }
    return placement_.take("heft");
  }

 private:
  [[nodiscard]] Load work(std::span<const ObjectId> inputs, ObjectId result) const {
    Load elements = graph_.elements(result);
    for (const ObjectId input : inputs) elements += graph_.elements(input);
    return elements * element_load;
  }

  // The work of a vertex and the longest way behind it, each block moving once.
  void note_rank(VertexId id) {
    const Vertex& vertex = graph_.vertices()[id];
    Load behind = 0;
    for (const VertexId reader : graph_.readers(vertex.output)) behind = std::max(behind, rank_[reader]);
    if (!graph_.readers(vertex.output).empty()) behind += graph_.elements(vertex.output) * element_load;
    if (vertex.kind != Kind::sum) {
      rank_[id] = behind + work(vertex.inputs, vertex.output);
      return;
    }
    for (std::size_t terms = vertex.inputs.size(); terms > 1; terms = terms / 2 + terms % 2)
      behind += 3 * graph_.elements(vertex.output) * element_load;
    rank_[id] = behind;
  }

  std::vector<VertexId> in_rank_order() {
    std::vector<VertexId> order;
    for (VertexId id = graph_.vertices().end_id(); id > VertexId(0);) {
      note_rank(--id);
      order.push_back(id);
    }
    std::sort(order.begin(), order.end(),
              [&](VertexId a, VertexId b) { return std::pair(-rank_[a], a) < std::pair(-rank_[b], b); });
    return order;
  }

  Pair earliest_pair(VertexId sum) {
    const std::vector<Pair> pairs = placement_.pairs(sum);
    const auto later = [&](const Pair& pair) { return std::max(made_[pair.left], made_[pair.right]); };
    return *std::min_element(pairs.begin(), pairs.end(),
                             [&](const Pair& a, const Pair& b) { return later(a) < later(b); });
  }

  [[nodiscard]] Load start(std::span<const ObjectId> inputs, WorkerId worker) {
    const State& state = placement_.state();
    Load time = free_[worker];
    for (const ObjectId input : inputs) {
      Load arrival = made_[input];
      if (!state.has(input, worker)) {
        const bool near = state.holds(input, state.cluster().node_of(worker));
        arrival += graph_.elements(input) * (near ? state.cluster().intra : element_load);
      }
      time = std::max(time, arrival);
    }
    return time;
  }

  void place(VertexId vertex, const Pair& pair, std::span<const ObjectId> inputs, ObjectId result) {
    WorkerId best;
    Load begin = 0;
    const auto consider = [&](WorkerId worker) {
      const Load time = start(inputs, worker);
      if (best < 0 || time < begin) best = worker, begin = time;
    };
    if (placement_.is_fixed(vertex))
      consider(graph_.vertices()[vertex].owner);
    else
      for (int worker = 0; worker < placement_.state().cluster().size(); ++worker) consider(WorkerId(worker));
    free_[best] = made_[result] = begin + work(inputs, result);
    placement_.commit({vertex, best, pair, {}});
  }

  const Graph& graph_;
  Placement placement_;
  IdMap<VertexId, Load> rank_;
  IdMap<ObjectId, Load> made_;  // when
  IdMap<WorkerId, Load> free_;  // from then on
};

}  // namespace

Plan heft(const Graph& graph, const Cluster& cluster, const SearchOptions& options) {
  return Heft(graph, cluster, options.pairing).run();
}

}  // namespace kasen::spread
