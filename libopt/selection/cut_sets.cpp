#include "libopt/selection/cut_sets.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kasen::fusion {
namespace {

constexpr size_t most_paired = 8;  // targets that are tried in pairs: 28 pairs

size_t place(NodeId id) { return static_cast<size_t>(id); }

class Cutter {
 public:
  Cutter(const Dag& dag, const Memo& memo, const Partition& partition, const Problem& problem)
      : partition_(partition), problem_(problem) {
    references_.resize(dag.size());
    for (const NodeId id : partition.nodes) {
      for (const Entry& entry : memo[id]) {
        for (const NodeId ref : entry.refs) {
          if (ref != no_node) references_[place(id)].insert(ref);
        }
      }
    }
  }

  std::vector<CutSet> run() {
    std::vector<NodeId> remaining;
    for (const NodeId target : targets()) {
      if (!add({target})) remaining.push_back(target);
    }
    if (remaining.size() > most_paired) remaining.clear();
    std::vector<CutSet> single = std::move(found_);
    found_.clear();
    for (size_t i = 0; i < remaining.size(); ++i) {
      for (size_t j = i + 1; j < remaining.size(); ++j) (void)add({remaining[i], remaining[j]});
    }
    sort_by_score(found_);
    for (CutSet& pair : found_) {
      if (is_apart(pair, single)) single.push_back(std::move(pair));
    }
    sort_by_score(single);
    return single;
  }

 private:
  using Mask = std::vector<char>;

  [[nodiscard]] std::set<NodeId> targets() const {
    std::set<NodeId> all;
    for (const int point : problem_.points) all.insert(partition_.points[static_cast<size_t>(point)].to);
    return all;
  }

  // Returns the nodes to which references lead from `from`, without those of the cut.
  [[nodiscard]] Mask reached(const std::vector<NodeId>& from, const Points& cut) const {
    Mask mask(references_.size(), 0);
    std::vector<NodeId> waiting = from;
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      if (mask[place(id)] != 0) continue;
      mask[place(id)] = 1;
      for (const NodeId to : references_[place(id)]) {
        if (problem_.scope.inside[place(to)] != 0 && !is_cut(id, to, cut)) waiting.push_back(to);
      }
    }
    return mask;
  }

  [[nodiscard]] bool is_cut(NodeId from, NodeId to, const Points& cut) const {
    return std::any_of(cut.begin(), cut.end(), [&](int p) {
      const Point& point = partition_.points[static_cast<size_t>(p)];
      return point.from == from && point.to == to;
    });
  }

  bool add(const std::vector<NodeId>& at) {
    CutSet set;
    for (const int p : problem_.points) {
      const NodeId to = partition_.points[static_cast<size_t>(p)].to;
      if (std::find(at.begin(), at.end(), to) != at.end()) set.cut.push_back(p);
    }
    divide(at, set);
    if (!share_out(set)) return false;
    const double plans = std::exp2(static_cast<double>(problem_.points.size()));
    const double one = std::exp2(-static_cast<double>(set.cut.size()));
    set.score = (1 - one) * plans + one * (std::exp2(static_cast<double>(set.above.points.size())) +
                                           std::exp2(static_cast<double>(set.below.points.size())));
    found_.push_back(std::move(set));
    return true;
  }

  // Below are the targets. Below is also each top from which something below is reached by another way than through the
  // cut.
  void divide(const std::vector<NodeId>& at, CutSet& set) const {
    set.below.scope = {reached(at, set.cut), at};
    std::vector<NodeId> others;
    for (const NodeId top : problem_.scope.tops) {
      if (std::find(at.begin(), at.end(), top) == at.end()) others.push_back(top);
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::erase_if(others, [&](NodeId top) {
        const Mask mask = reached({top}, set.cut);
        if (!meet(mask, set.below.scope.inside)) return false;
        for (size_t id = 0; id < mask.size(); ++id) set.below.scope.inside[id] |= mask[id];
        set.below.scope.tops.push_back(top);
        return moved = true;
      });
    }
    set.above.scope = {reached(others, set.cut), others};
  }

  static bool meet(const Mask& a, const Mask& b) {
    for (size_t id = 0; id < a.size(); ++id) {
      if (a[id] != 0 && b[id] != 0) return true;
    }
    return false;
  }

  // Gives the other points to the side on which they matter.
  [[nodiscard]] bool share_out(CutSet& set) const {
    const Mask &above = set.above.scope.inside, &below = set.below.scope.inside;
    for (const int p : problem_.points) {
      if (std::find(set.cut.begin(), set.cut.end(), p) != set.cut.end()) continue;
      const size_t from = place(partition_.points[static_cast<size_t>(p)].from);
      if (above[from] != 0) set.above.points.push_back(p);
      if (below[from] != 0) set.below.points.push_back(p);
    }
    return !set.above.points.empty() && !set.below.points.empty();
  }

  static void sort_by_score(std::vector<CutSet>& sets) {
    std::stable_sort(sets.begin(), sets.end(), [](const CutSet& a, const CutSet& b) { return a.score < b.score; });
  }

  static bool is_apart(const CutSet& set, const std::vector<CutSet>& others) {
    return std::all_of(others.begin(), others.end(), [&](const CutSet& other) {
      return std::find_first_of(set.cut.begin(), set.cut.end(), other.cut.begin(), other.cut.end()) == set.cut.end();
    });
  }

  const Partition& partition_;
  const Problem& problem_;
  std::vector<std::set<NodeId>> references_;  // by node: the nodes that some entry absorbs
  std::vector<CutSet> found_;
};

}  // namespace

std::vector<CutSet> cut_sets(const Dag& dag, const Memo& memo, const Partition& partition, const Problem& problem) {
  return Cutter(dag, memo, partition, problem).run();
}

}  // namespace kasen::fusion
