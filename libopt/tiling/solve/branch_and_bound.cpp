#include "libopt/tiling/solve/branch_and_bound.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "libopt/tiling/solve/local.h"

namespace kasen::tiling {
namespace {

// A partial assignment: one choice more than its parent's.
struct Node {
  double bound = 0, memory = 0;
  std::size_t bucket = 0;  // the last one that has chosen
  std::size_t parent = 0, choice = 0;
};

class Search {
 public:
  Search(const Problem& problem, const Guide& guide, Outcome best, double unit, std::uint64_t nodes)
      : problem_(problem), guide_(guide), best_(std::move(best)), at_(best_.at), unit_(unit), nodes_left_(nodes) {
    // A completion of least cost may take too much memory.
    if (!problem.is_budgeted()) last_ = guide.plan.exact;
  }

  Outcome run() {
    Node root;
    root.bound = guide_.elimination.bound() - (problem_.is_budgeted() ? guide_.price * problem_.budget : 0);
    root.bucket = guide_.plan.buckets.size();
    best_.bound = best_.cost;
    if (may_improve(root.bound)) add(root);
    for (std::size_t round = 0; !open_.empty(); ++round) {
      const std::size_t next = open_.top();
      const double bound = nodes_[next].bound;
      if (!may_improve(bound)) break;
      if (nodes_left_ == 0) {
        best_.bound = std::min(best_.cost, bound);
        return std::move(best_);
      }
      open_.pop();
      restore(next);
      descend(next, round % rounds_per_dive == 0);
    }
    best_.bound = best_.cost;
    return std::move(best_);
  }

 private:
  static constexpr std::size_t rounds_per_dive = 64;

  // The best next: the least bound, then the deepest, then the first made.
  struct Behind {
    const std::vector<Node>& nodes;
    bool operator()(std::size_t a, std::size_t b) const {
      return std::tuple(nodes[a].bound, nodes[a].bucket, a) > std::tuple(nodes[b].bound, nodes[b].bucket, b);
    }
  };

  // All costs are multiples of the unit, so a better solution is better by a unit. Sums are exact to a 16th of it.
  [[nodiscard]] bool may_improve(double bound) const {
    return bound < best_.cost && bound <= best_.cost - unit_ * 15 / 16;
  }

  std::size_t add(const Node& node) {
    nodes_.push_back(node);
    open_.push(nodes_.size() - 1);
    return nodes_.size() - 1;
  }

  // Sets the choices of a node. Those of other variables are set on the way down.
  void restore(std::size_t number) {
    for (; number != 0; number = nodes_[number].parent) {
      at_[guide_.plan.buckets[nodes_[number].bucket].variable] = nodes_[number].choice;
    }
  }

  // Goes on with the best child, as long as that has its parent's bound; to the end in a dive, for a solution.
  void descend(std::size_t number, bool is_dive) {
    while (nodes_left_ > 0) {
      if (nodes_[number].bucket == last_) return finish();
      --nodes_left_;
      const std::size_t child = expand(number);
      if (child == 0) return;
      if (!is_dive && nodes_[child].bound > nodes_[number].bound) return open_.push(child);
      const Node& node = nodes_[child];
      at_[guide_.plan.buckets[node.bucket].variable] = node.choice;
      number = child;
    }
    open_.push(number);
  }

  // Adds a node for each choice of the next variable. Returns the best one, which is not open yet, or 0.
  std::size_t expand(std::size_t number) {
    const Node parent = nodes_[number];
    const std::size_t bucket = parent.bucket - 1, variable = guide_.plan.buckets[bucket].variable;
    guide_.elimination.rises(bucket, at_, rises_);
    std::size_t best = 0;
    const std::size_t first = nodes_.size();
    for (std::size_t choice = 0; choice < rises_.size(); ++choice) {
      const Node child{parent.bound + std::max(0.0, rises_[choice]), parent.memory + problem_.memory[variable][choice],
                       bucket, number, choice};
      if (child.memory > problem_.budget || !may_improve(child.bound)) continue;
      nodes_.push_back(child);
      if (best == 0 || child.bound < nodes_[best].bound) best = nodes_.size() - 1;
    }
    for (std::size_t child = first; child < nodes_.size(); ++child) {
      if (child != best) open_.push(child);
    }
    return best;
  }

  void finish() {
    guide_.elimination.complete(last_, at_);
    double cost = cost_of(at_);
    if (cost >= best_.cost) return;
    Choices improved = at_;
    improve(problem_, improved);
    best_.at = cost_of(improved) < cost ? improved : at_;
    best_.cost = std::min(cost, cost_of(improved));
  }

  [[nodiscard]] double cost_of(const Choices& at) const {
    if (problem_.is_budgeted() && problem_.memory_of(at) > problem_.budget) return forbidden;
    return problem_.cost_of(guide_.part.tables, at);
  }

  const Problem& problem_;
  const Guide& guide_;
  Outcome best_;
  Choices at_;
  const double unit_;
  std::uint64_t nodes_left_;
  std::size_t last_ = 0;  // buckets before it are completed at once
  std::vector<Node> nodes_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, Behind> open_{Behind{nodes_}};
  std::vector<double> rises_;
};

}  // namespace

Outcome branch_and_bound(const Problem& problem, const Guide& guide, Outcome best, double unit, std::uint64_t nodes) {
  return Search(problem, guide, std::move(best), unit, nodes).run();
}

}  // namespace kasen::tiling
