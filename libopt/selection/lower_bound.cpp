#include "libopt/selection/lower_bound.h"

#include <algorithm>
#include <set>

namespace kasen::fusion {
namespace {

size_t spot(NodeId id) { return static_cast<size_t>(id); }

// Marks the nodes that operators of a template which exploits sparsity may hold: the nodes with its entries, the cells
// that these absorb, and so on.
std::vector<char> held_sparsely(const Memo& memo, const Partition& partition) {
  std::vector<char> held(memo.groups.size(), 0);
  for (auto id = partition.nodes.rbegin(); id != partition.nodes.rend(); ++id) {
    for (const Entry& entry : memo[*id]) {
      if (row(entry.type).exploits) held[spot(*id)] = 1;
      if (held[spot(*id)] == 0) continue;
      for (const NodeId ref : entry.refs) {
        if (ref != no_node) held[spot(ref)] = 1;
      }
    }
  }
  return held;
}

double smallest_share(const Dag& dag, NodeId id) {
  double least = 1;
  if (dag[id].sparsity < 1) return least;
  for (const NodeId other : dag.ids()) {
    if (dag[other].shape == dag[id].shape) least = std::min(least, dag[other].sparsity);
  }
  return least;
}

// By node: the smallest share of its dense cells that an operator computes, reads or writes.
std::vector<double> shares(const Dag& dag, const Memo& memo, const Partition& partition) {
  const std::vector<char> held = held_sparsely(memo, partition);
  std::vector<double> share(held.size(), 1);
  for (const NodeId id : partition.nodes) {
    if (held[spot(id)] == 0) continue;
    share[spot(id)] = smallest_share(dag, id);
    for (const NodeId in : dag[id].inputs) share[spot(dag.stored(in))] = smallest_share(dag, dag.stored(in));
  }
  return share;
}

}  // namespace

LowerBound::LowerBound(const Dag& dag, const Memo& memo, const Partition& partition, const Scope& scope,
                       const CostRules& rules)
    : dag_(dag), partition_(partition), rules_(rules), share_(shares(dag, memo, partition)) {
  is_top_.assign(dag.size(), 0);
  counted_.assign(dag.size(), 0);
  std::set<NodeId> outside;
  for (const NodeId id : partition.nodes) {
    if (scope.inside[spot(id)] == 0) continue;
    for (const NodeId in : dag[id].inputs) {
      if (scope.inside[spot(dag.stored(in))] == 0) outside.insert(dag.stored(in));
    }
  }
  for (const NodeId id : partition.nodes) {
    if (scope.inside[spot(id)] != 0) least_.compute += dag[id].seconds * share_[spot(id)];
  }
  for (const NodeId id : outside) least_.read += bytes(id);
  for (const NodeId top : scope.tops) {
    is_top_[spot(top)] = 1;
    least_.written += bytes(top);
    ++least_.starts;
  }
}

double LowerBound::bytes(NodeId id) const { return dag_[id].bytes * share_[spot(id)]; }

double LowerBound::operator()(const Assignment& plan, const Points& points) {
  ++call_;
  Step step = least_;
  for (const int p : points) {
    const NodeId to = partition_.points[static_cast<size_t>(p)].to;
    if (plan[static_cast<size_t>(p)] == 0 || dag_.stored(to) != to || counted_[spot(to)] == call_) continue;
    counted_[spot(to)] = call_;
    step.read += bytes(to);
    if (is_top_[spot(to)] != 0) continue;
    step.written += bytes(to);
    ++step.starts;
  }
  return step_time(step, {rules_.machine, rules_.processes}).sum();
}

}  // namespace kasen::fusion
