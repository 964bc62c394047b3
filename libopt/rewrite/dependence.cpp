#include "libopt/rewrite/dependence.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/sorted.h"
#include "libcore/ir/layout.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Returns true if the lists have a common element; both ascend.
template <class T>
bool intersects(const std::vector<T>& a, const std::vector<T>& b) {
  const auto& few = a.size() < b.size() ? a : b;
  const auto& many = a.size() < b.size() ? b : a;
  return std::any_of(few.begin(), few.end(),
                     [&](const T& value) { return std::binary_search(many.begin(), many.end(), value); });
}

class Bits {
 public:
  explicit Bits(size_t count) : words_((count + 63) / 64, 0) {}
  [[nodiscard]] bool test(size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void set(size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void reset(size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  Bits& operator|=(const Bits& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// The graph with clusters contracted; a node is named after one of its operators. Each node has the set of nodes that
// are reached from it as bits, so a few steps decide whether two may be one.
class GraphContraction {
 public:
  GraphContraction(const BlockGraph& graph, bool inside)
      : graph_(graph), inside_(inside), count_(static_cast<size_t>(graph.size())), reached_(count_, Bits(count_)) {
    for (int i = 0; i < graph.size(); ++i) {
      node_.push_back(i);
      members_.push_back({i});
      reads_.push_back(graph.reads(i));
    }
    for (size_t i = count_; i-- > 0;) {
      for (const int user : graph.needed_by(static_cast<int>(i))) {
        reached_[i] |= reached_[static_cast<size_t>(user)];
        reached_[i].set(static_cast<size_t>(user));
      }
    }
  }

  [[nodiscard]] const std::vector<int>& members(int node) const { return members_[static_cast<size_t>(node)]; }

  // No path leads from one to the other through a third. An answer of false stays until one of the two grows:
  // contraction removes no path.
  [[nodiscard]] bool may_merge(int a, int b) const { return a != b && free_of(a, b) && free_of(b, a); }

  void merge(int into, int from) {
    const auto i = static_cast<size_t>(into);
    const auto f = static_cast<size_t>(from);
    for (const int op : members_[f]) node_[static_cast<size_t>(op)] = into;
    unite(members_[i], members_[f]);
    unite(reads_[i], reads_[f]);
    Bits behind = reached_[i];
    behind |= reached_[f];
    behind.reset(i);
    behind.reset(f);
    reached_[i] = behind;
    behind.set(i);
    for (Bits& reached : reached_) {
      if (!reached.test(i) && !reached.test(f)) continue;
      reached |= behind;
      reached.reset(f);
    }
  }

  // Returns 2 if one makes a value that the other reads, 1 if both read one array, 0 if they have nothing in common.
  [[nodiscard]] int affinity(int a, int b) const {
    const bool turned = members(a).size() > members(b).size();
    const int few = turned ? b : a;
    const int many = turned ? a : b;
    const auto in_other = [&](int op) { return node_[static_cast<size_t>(op)] == many; };
    for (const int op : members(few)) {
      const auto& before = graph_.needs(op);
      const auto& behind = graph_.needed_by(op);
      if (std::any_of(before.begin(), before.end(), in_other)) return 2;
      if (std::any_of(behind.begin(), behind.end(), in_other)) return 2;
    }
    return intersects(reads_[static_cast<size_t>(a)], reads_[static_cast<size_t>(b)]) ? 1 : 0;
  }

 private:
  template <class T>
  static void unite(std::vector<T>& list, std::vector<T>& with) {
    list.insert(list.end(), with.begin(), with.end());
    sort_unique(list);
    with.clear();
  }

  // No path leads from a to b, except the direct step if members may need each other.
  [[nodiscard]] bool free_of(int a, int b) const {
    if (!reached_[static_cast<size_t>(a)].test(static_cast<size_t>(b))) return true;
    for (const int op : members(a)) {
      for (const int user : graph_.needed_by(op)) {
        const int next = node_[static_cast<size_t>(user)];
        if (next == b ? !inside_ : next != a && reached_[static_cast<size_t>(next)].test(static_cast<size_t>(b))) {
          return false;
        }
      }
    }
    return true;
  }

  const BlockGraph& graph_;
  bool inside_;
  size_t count_;
  std::vector<int> node_;
  std::vector<std::vector<int>> members_;
  std::vector<std::vector<ValueId>> reads_;
  std::vector<Bits> reached_;
};

// A contraction whose clusters agree as the rules require. A cluster has the range of its members. It hands on if all
// members do.
class DrawnClusters {
 public:
  DrawnClusters(const BlockGraph& graph, ClusterRules rules)
      : contraction_(graph, rules.inside), rules_(std::move(rules)) {}

  [[nodiscard]] const std::vector<int>& members(int node) const { return contraction_.members(node); }
  // Returns what the two have in common (GraphContraction::affinity), or nothing if they may not be one.
  [[nodiscard]] std::optional<int> common(int a, int b) const {
    const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
    if (rules_.kinds[x] != rules_.kinds[y] || !in_one_range(x, y)) return std::nullopt;
    const int affinity = contraction_.affinity(a, b);
    const bool alike = rules_.ranges[x] == rules_.ranges[y] && !rules_.hands_on[x] && !rules_.hands_on[y];
    if ((affinity == 0 && !alike) || !contraction_.may_merge(a, b)) return std::nullopt;
    return affinity;
  }

  void merge(int into, int from) {
    const auto i = static_cast<size_t>(into), f = static_cast<size_t>(from);
    contraction_.merge(into, from);
    rules_.ranges[i] = std::max(rules_.ranges[i], rules_.ranges[f]);
    rules_.hands_on[i] = rules_.hands_on[i] && rules_.hands_on[f];
  }

 private:
  [[nodiscard]] bool in_one_range(size_t a, size_t b) const {
    const int x = rules_.ranges[a], y = rules_.ranges[b];
    if (rules_.hands_on[a] || rules_.hands_on[b]) return x == y && rules_.hands_on[a] != rules_.hands_on[b];
    return x < 0 || y < 0 || x == y;
  }

  GraphContraction contraction_;
  ClusterRules rules_;
};

// Returns the best cluster that `op` may join and has something in common with, or -1.
int best_home(const DrawnClusters& drawing, const std::vector<int>& homes, int op) {
  int best = -1;
  int most = 0;
  for (const int home : homes) {
    const int affinity = drawing.common(home, op).value_or(0);
    if (affinity > most) {
      best = home;
      most = affinity;
    }
  }
  return best;
}

// Merges clusters two by two while that is possible: those with the most in common first, then the first.
class ClusterMerging {
 public:
  ClusterMerging(DrawnClusters& drawing, std::vector<int>& homes)
      : drawing_(drawing), homes_(homes), gone_(homes.size(), false) {
    for (size_t i = 0; i < homes_.size(); ++i) {
      for (size_t j = i + 1; j < homes_.size(); ++j) consider(i, j);
    }
  }

  void run() {
    while (!pairs_.empty()) {
      const auto [distance, i, j] = *pairs_.begin();
      pairs_.erase(pairs_.begin());
      if (gone_[i] || gone_[j] || !drawing_.common(homes_[i], homes_[j])) continue;
      drawing_.merge(homes_[i], homes_[j]);
      gone_[j] = true;
      for (size_t k = 0; k < homes_.size(); ++k) {
        if (k != i && !gone_[k]) consider(std::min(i, k), std::max(i, k));
      }
    }
    size_t place = 0;
    std::erase_if(homes_, [&](int /*home*/) { return gone_[place++]; });
  }

 private:
  void consider(size_t i, size_t j) {
    for (int distance = 0; distance <= 2; ++distance) pairs_.erase({distance, i, j});
    if (const auto affinity = drawing_.common(homes_[i], homes_[j])) pairs_.insert({2 - *affinity, i, j});
  }

  DrawnClusters& drawing_;
  std::vector<int>& homes_;
  std::vector<bool> gone_;
  std::set<std::tuple<int, size_t, size_t>> pairs_;
};

}  // namespace

BlockGraph::BlockGraph(const Module& module, const Block& block) {
  const size_t count = block.ops.size();
  needs_.resize(count);
  needed_by_.resize(count);
  reads_.resize(count);
  std::vector<int> maker(module.values.size(), -1);
  for (size_t i = 0; i < count; ++i) {
    for_each_operand(block.ops[i], [&](ValueId value) {
      const int made_by = maker[static_cast<size_t>(value)];
      if (made_by >= 0) needs_[i].push_back(made_by);
      if (Layout(module, value).is_distributed()) reads_[i].push_back(value);
    });
    sort_unique(needs_[i]);
    sort_unique(reads_[i]);
    for (const int before : needs_[i]) needed_by_[static_cast<size_t>(before)].push_back(static_cast<int>(i));
    for (const ValueId result : block.ops[i].results) maker[static_cast<size_t>(result)] = static_cast<int>(i);
  }
}

BlockGraph BlockGraph::contracted(const std::vector<std::vector<int>>& units) const {
  std::vector<int> unit_of(needs_.size());
  for (size_t unit = 0; unit < units.size(); ++unit) {
    for (const int op : units[unit]) unit_of[static_cast<size_t>(op)] = static_cast<int>(unit);
  }
  BlockGraph made;
  made.needs_.resize(units.size());
  made.needed_by_.resize(units.size());
  made.reads_.resize(units.size());
  for (size_t unit = 0; unit < units.size(); ++unit) {
    for (const int op : units[unit]) {
      for (const int before : needs(op)) {
        const int from = unit_of[static_cast<size_t>(before)];
        if (from != static_cast<int>(unit)) made.needs_[unit].push_back(from);
      }
      made.reads_[unit].insert(made.reads_[unit].end(), reads(op).begin(), reads(op).end());
    }
    sort_unique(made.needs_[unit]);
    sort_unique(made.reads_[unit]);
    for (const int before : made.needs_[unit])
      made.needed_by_[static_cast<size_t>(before)].push_back(static_cast<int>(unit));
  }
  return made;
}

std::vector<std::vector<int>> cluster(const BlockGraph& graph, const ClusterRules& rules) {
  DrawnClusters drawing(graph, rules);
  std::vector<int> homes;
  for (int op = 0; op < graph.size(); ++op) {
    if (rules.kinds[static_cast<size_t>(op)] < 0) continue;
    const int home = best_home(drawing, homes, op);
    if (home >= 0) {
      drawing.merge(home, op);
    } else {
      homes.push_back(op);
    }
  }
  ClusterMerging(drawing, homes).run();
  std::vector<std::vector<int>> clusters;
  for (const int home : homes) {
    if (drawing.members(home).size() > 1) clusters.push_back(drawing.members(home));
  }
  return clusters;
}

std::vector<int> contracted_order(const BlockGraph& graph, const std::vector<std::vector<int>>& clusters) {
  const auto count = static_cast<size_t>(graph.size());
  std::vector<int> node(count);  // the first operator of the cluster stands for it
  std::vector<int> cluster_of(count, -1);
  for (size_t i = 0; i < count; ++i) node[i] = static_cast<int>(i);
  for (size_t c = 0; c < clusters.size(); ++c) {
    for (const int op : clusters[c]) {
      node[static_cast<size_t>(op)] = clusters[c].front();
      cluster_of[static_cast<size_t>(op)] = static_cast<int>(c);
    }
  }
  std::vector<std::vector<int>> users(count);
  std::vector<int> waiting(count, 0);
  for (size_t i = 0; i < count; ++i) {
    for (const int before : graph.needs(static_cast<int>(i))) {
      const int from = node[static_cast<size_t>(before)];
      if (from == node[i]) continue;
      users[static_cast<size_t>(from)].push_back(node[i]);
      ++waiting[static_cast<size_t>(node[i])];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  size_t nodes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (node[i] != static_cast<int>(i)) continue;
    ++nodes;
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(cluster_of[static_cast<size_t>(next)] >= 0 ? -1 - cluster_of[static_cast<size_t>(next)] : next);
    for (const int user : users[static_cast<size_t>(next)]) {
      if (--waiting[static_cast<size_t>(user)] == 0) ready.push(user);
    }
  }
  if (order.size() != nodes) throw InternalError("operators were clustered into a cycle");
  return order;
}

}  // namespace kasen
