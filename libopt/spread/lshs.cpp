#include <algorithm>
#include <optional>
#include <utility>

#include "libopt/spread/random.h"
#include "libopt/spread/search.h"

namespace kasen::spread {
namespace {

constexpr std::size_t most_tried = 4;  // workers of the vertex that a look-ahead tries first

// Terms of a sum that are paired over nodes: fewer where each pair has many workers, or is tried often.
std::size_t most_paired(const SearchOptions& options, bool looks_ahead) {
  return options.options == Options::all ? 4 : looks_ahead ? 8 : 24;
}

class LookAhead {
 public:
  LookAhead(const Graph& graph, const Cluster& cluster, const SearchOptions& options)
      : options_(options),
        placement_(graph, cluster, options.pairing, most_paired(options, true)),
        draws_(options.seed) {}

  Plan run() {
    while (!placement_.ready().empty()) {
      draw();
      best_.reset();
      for (const VertexId vertex : drawn_) try_first(vertex);
      placement_.commit(best_->second);
    }
    return placement_.take("ahead=" + std::to_string(options_.ahead));
  }

 private:
  using Key = std::pair<Load, Load>;  // objective, elements that move

  void draw() {
    std::vector<VertexId>& ready = placement_.ready();
    const std::size_t count = std::min(ready.size(), static_cast<std::size_t>(options_.ahead));
    drawn_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(ready[i], ready[i + draws_.below(ready.size() - i)]);
      drawn_.push_back(ready[i]);
    }
  }

  void try_first(VertexId vertex) {
    std::vector<Move> moves = placement_.moves(vertex, options_.options);
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return Key{a.cost.objective, a.cost.moved} < Key{b.cost.objective, b.cost.moved};
    });
    if (moves.size() > most_tried) moves.resize(most_tried);
    for (const Move& move : moves) {
      const Key key = follow(move);
      if (!best_ || key < best_->first) best_ = {key, move};
    }
  }

  Key follow(const Move& first) {
    Key key{first.cost.objective, first.cost.moved};
    placement_.try_move(first);
    for (const VertexId vertex : drawn_) {
      if (vertex == first.vertex) continue;
      const Move next = placement_.best(vertex, options_.options, true);
      placement_.try_move(next);
      key = {next.cost.objective, key.second + next.cost.moved};
    }
    for (std::size_t i = 0; i < drawn_.size(); ++i) placement_.undo();
    return key;
  }

  const SearchOptions& options_;
  Placement placement_;
  Draws draws_;
  std::vector<VertexId> drawn_;
  std::optional<std::pair<Key, Move>> best_;
};

}  // namespace

Plan lshs(const Graph& graph, const Cluster& cluster, const SearchOptions& options) {
  Placement placement(graph, cluster, options.pairing, most_paired(options, false));
  Draws draws(options.seed);
  const std::vector<VertexId>& ready = placement.ready();
  while (!ready.empty()) {
    const VertexId vertex = ready[draws.below(ready.size())];
    placement.commit(placement.best(vertex, options.options, false));
  }
  return placement.take(options.options == Options::all ? "lshs-all" : "lshs");
}

Plan look_ahead(const Graph& graph, const Cluster& cluster, const SearchOptions& options) {
  return LookAhead(graph, cluster, options).run();
}

}  // namespace kasen::spread
