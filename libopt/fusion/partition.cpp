#include "libopt/fusion/partition.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/sorted.h"

namespace kasen::fusion {
namespace {

bool holds(const std::vector<NodeId>& ids, NodeId id) { return std::binary_search(ids.begin(), ids.end(), id); }

bool references(const Group& group, NodeId to) {
  return std::any_of(group.begin(), group.end(), [&](const Entry& entry) { return entry.refers_to(to); });
}

// Returns the smallest node of each component, by node; -1 for nodes without a group.
IdMap<NodeId, NodeId> components(const Dag& dag, const Memo& memo) {
  IdMap<NodeId, NodeId> head(dag.size());
  std::iota(head.begin(), head.end(), NodeId(0));
  const auto find = [&](NodeId id) {
    while (head[id] != id) id = head[id];
    return id;
  };
  for (const NodeId id : dag.ids()) {
    for (const NodeId in : dag[id].inputs) {
      if (!references(memo[id], in)) continue;
      const NodeId a = find(id), b = find(in);
      head[std::max(a, b)] = std::min(a, b);
    }
  }
  IdMap<NodeId, NodeId> component(head.size(), no_node);
  for (const NodeId id : dag.ids()) {
    if (!memo[id].empty()) component[id] = find(id);
  }
  return component;
}

class Analyzer {
 public:
  Analyzer(const Dag& dag, const Memo& memo, std::vector<NodeId> nodes) : dag_(dag), memo_(memo) {
    made_.nodes = std::move(nodes);
  }

  Partition run() {
    for (const NodeId id : made_.nodes) analyze(id);
    sort_unique(made_.inputs);
    sort_unique(made_.tops);
    for (const NodeId id : made_.nodes) find_points(id);
    return std::move(made_);
  }

 private:
  void analyze(NodeId id) {
    const Node& node = dag_[id];
    for (const NodeId in : node.inputs) {
      const NodeId read = dag_.stored(in);
      if (!holds(made_.nodes, read)) made_.inputs.push_back(read);
    }
    const auto takes_up = [&](NodeId consumer) {
      return holds(made_.nodes, consumer) && references(memo_[consumer], id);
    };
    const bool root = std::none_of(node.consumers.begin(), node.consumers.end(), takes_up);
    const bool read = !std::all_of(node.consumers.begin(), node.consumers.end(), takes_up);
    if (root) made_.roots.push_back(id);
    if (root || read || node.escapes) add_top(id);
    // Materializing a view would gain nothing.
    if (!root && node.uses() > 1 && node.form != Form::transpose) made_.shared.push_back(id);
  }

  // A reader of a view reads the value that it shows.
  void add_top(NodeId id) {
    const NodeId read = dag_[id].escapes ? id : dag_.stored(id);
    if (holds(made_.nodes, read)) made_.tops.push_back(read);
  }

  void find_points(NodeId to) {
    for (const NodeId from : dag_[to].consumers) {
      if (!holds(made_.nodes, from) || !references(memo_[from], to)) continue;
      const Point point{from, to, holds(made_.shared, to), switches(from, to)};
      if (point.shared || point.switches) made_.points.push_back(point);
    }
  }

  // A fused operator larger than `to` alone may end at `to` in a template in which `from` does not absorb it.
  [[nodiscard]] bool switches(NodeId from, NodeId to) const {
    const Group& consumer = memo_[from];
    return std::any_of(memo_[to].begin(), memo_[to].end(), [&](const Entry& entry) {
      return entry.references() > 0 && is_valid(entry.close) && !row(entry.type).joins(dag_, to) &&
             std::none_of(consumer.begin(), consumer.end(), [&](const Entry& other) {
               return other.type == entry.type && is_valid(other.close) && other.refers_to(to);
             });
    });
  }

  const Dag& dag_;
  const Memo& memo_;
  Partition made_;
};

}  // namespace

std::vector<Partition> partitions(const Dag& dag, const Memo& memo) {
  const IdMap<NodeId, NodeId> component = components(dag, memo);
  IdMap<NodeId, std::vector<NodeId>> nodes(component.size());
  for (const NodeId id : dag.ids()) {
    const NodeId head = component[id];
    if (head >= 0) nodes[head].push_back(id);
  }
  std::vector<Partition> made;
  for (std::vector<NodeId>& members : nodes) {
    if (!members.empty()) made.push_back(Analyzer(dag, memo, std::move(members)).run());
  }
  return made;
}

}  // namespace kasen::fusion
