#include "libopt/dependence.h"

#include <algorithm>
#include <queue>

#include "libcore/error.h"
#include "libopt/rewrite.h"

namespace kasen {
namespace {

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool intersects(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  auto i = a.begin();
  for (auto j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

// The graph with clusters contracted; nodes are named after one of their operators.
class Contraction {
 public:
  Contraction(const BlockGraph& graph, bool inside) : graph_(graph), inside_(inside) {
    for (int i = 0; i < graph.size(); ++i) {
      node_.push_back(i);
      members_.push_back({i});
    }
  }

  [[nodiscard]] const std::vector<int>& members(int node) const { return members_[static_cast<size_t>(node)]; }

  [[nodiscard]] bool may_merge(int a, int b) const { return a != b && free_of(a, b) && free_of(b, a); }

  void merge(int into, int from) {
    auto& list = members_[static_cast<size_t>(into)];
    for (const int op : members(from)) {
      node_[static_cast<size_t>(op)] = into;
      list.push_back(op);
    }
    std::sort(list.begin(), list.end());
    members_[static_cast<size_t>(from)].clear();
  }

  // 2: one makes what the other reads; 1: both read one array; 0: nothing in common.
  [[nodiscard]] int affinity(int a, int b) const {
    int best = 0;
    for (const int x : members(a)) {
      for (const int y : members(b)) {
        const auto& before = graph_.needs(std::max(x, y));
        if (std::binary_search(before.begin(), before.end(), std::min(x, y))) return 2;
        if (graph_.share(x, y)) best = 1;
      }
    }
    return best;
  }

 private:
  // No path from a to b, but for the direct step where members may need each other.
  [[nodiscard]] bool free_of(int a, int b) const {
    std::vector<char> seen(node_.size(), 0);
    std::vector<int> open;
    const auto step = [&](int node) {
      for (const int op : members(node)) {
        for (const int user : graph_.needed_by(op)) {
          const int next = node_[static_cast<size_t>(user)];
          if (next == node || (node == a && next == b && inside_) || seen[static_cast<size_t>(next)]) continue;
          seen[static_cast<size_t>(next)] = 1;
          open.push_back(next);
        }
      }
    };
    step(a);
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      if (node == b) return false;
      step(node);
    }
    return true;
  }

  const BlockGraph& graph_;
  bool inside_;
  std::vector<int> node_;
  std::vector<std::vector<int>> members_;
};

// The best cluster of this kind that `op` may join, or -1.
int best_home(const Contraction& contraction, const ClusterRules& rules, const std::vector<int>& homes, int op) {
  int best = -1;
  int most = -1;
  for (const int home : homes) {
    if (rules.kinds[static_cast<size_t>(home)] != rules.kinds[static_cast<size_t>(op)]) continue;
    const int affinity = contraction.affinity(home, op);
    if (affinity > most && contraction.may_merge(home, op)) {
      best = home;
      most = affinity;
    }
  }
  return best;
}

bool merge_two(Contraction& contraction, const ClusterRules& rules, std::vector<int>& homes) {
  for (int wanted = 2; wanted >= 0; --wanted) {
    for (size_t i = 0; i < homes.size(); ++i) {
      for (size_t j = i + 1; j < homes.size(); ++j) {
        const bool alike = rules.kinds[static_cast<size_t>(homes[i])] == rules.kinds[static_cast<size_t>(homes[j])];
        if (!alike || contraction.affinity(homes[i], homes[j]) != wanted) continue;
        if (!contraction.may_merge(homes[i], homes[j])) continue;
        contraction.merge(homes[i], homes[j]);
        homes.erase(homes.begin() + static_cast<std::ptrdiff_t>(j));
        return true;
      }
    }
  }
  return false;
}

}  // namespace

BlockGraph::BlockGraph(const Module& module, const Block& block) {
  const size_t count = block.ops.size();
  needs_.resize(count);
  needed_by_.resize(count);
  reads_.resize(count);
  makes_.resize(count);
  std::vector<int> maker(module.values.size(), -1);
  for (size_t i = 0; i < count; ++i) {
    for_each_operand(block.ops[i], [&](ValueId value) {
      const int made_by = maker[static_cast<size_t>(value)];
      if (made_by >= 0) needs_[i].push_back(made_by);
      if (!is_shared(module, module.type(value))) reads_[i].push_back(value);
    });
    sort_unique(needs_[i]);
    sort_unique(reads_[i]);
    for (const int before : needs_[i]) needed_by_[static_cast<size_t>(before)].push_back(static_cast<int>(i));
    for (const ValueId result : block.ops[i].results) maker[static_cast<size_t>(result)] = static_cast<int>(i);
  }
}

bool BlockGraph::share(int a, int b) const {
  return intersects(reads_[static_cast<size_t>(a)], reads_[static_cast<size_t>(b)]);
}

std::vector<std::vector<int>> cluster(const BlockGraph& graph, const ClusterRules& rules) {
  Contraction contraction(graph, rules.inside);
  std::vector<int> homes;
  for (int op = 0; op < graph.size(); ++op) {
    if (rules.kinds[static_cast<size_t>(op)] < 0) continue;
    const int home = best_home(contraction, rules, homes, op);
    if (home >= 0) {
      contraction.merge(home, op);
    } else {
      homes.push_back(op);
    }
  }
  while (merge_two(contraction, rules, homes)) {
  }
  std::vector<std::vector<int>> clusters;
  for (const int home : homes) {
    if (contraction.members(home).size() > 1) clusters.push_back(contraction.members(home));
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
  if (order.size() != nodes) throw InternalError("operators were drawn together into a cycle");
  return order;
}

}  // namespace kasen
