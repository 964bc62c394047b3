#include "libopt/spread/senders.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace kasen::spread {
namespace {

struct Item {
  std::size_t spreading = 0;
  Load load = 0;
};

class LeastSent {
 public:
  LeastSent(IdMap<NodeId, Load> out, Load limit, std::int64_t& steps, std::vector<Spreading>& spreadings)
      : out_(std::move(out)), best_(limit), steps_(steps), spreadings_(spreadings) {}

  Load run(const Graph& graph) {
    for (std::size_t s = 0; s < spreadings_.size(); ++s) {
      spreadings_[s].senders.clear();
      const Load load = graph.elements(spreadings_[s].object) * element_load;
      for (std::size_t i = 2; i < spreadings_[s].nodes.size(); ++i) items_.push_back({s, load});
    }
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.load > b.load; });
    Load most = 0;
    for (const Load load : out_) most = std::max(most, load);
    chosen_.resize(items_.size());
    choose(0, most);
    if (steps_ <= 0) return -1;
    for (std::size_t i = 0; i < found_.size(); ++i) spreadings_[items_[i].spreading].senders.push_back(found_[i]);
    return best_;
  }

 private:
  void choose(std::size_t item, Load most) {
    if (most >= best_ || --steps_ <= 0) return;
    if (item == items_.size()) {
      best_ = most;
      found_ = chosen_;
      return;
    }
    for (const NodeId node : spreadings_[items_[item].spreading].nodes) {
      out_[node] += items_[item].load;
      chosen_[item] = node;
      choose(item + 1, std::max(most, out_[node]));
      out_[node] -= items_[item].load;
    }
  }

  IdMap<NodeId, Load> out_;
  Load best_;
  std::int64_t& steps_;
  std::vector<Spreading>& spreadings_;
  std::vector<Item> items_;
  std::vector<NodeId> chosen_, found_;
};

// The node that sends to each: those that send most come first, so that one that sends has got it.
std::map<NodeId, NodeId> sources(const Spreading& spreading) {
  std::map<NodeId, std::size_t> sends{{spreading.nodes.front(), 1}};
  for (const NodeId node : spreading.senders) ++sends[node];
  std::vector<NodeId> order = spreading.nodes;
  std::stable_sort(order.begin() + 1, order.end(), [&](NodeId a, NodeId b) { return sends[a] > sends[b]; });
  std::map<NodeId, NodeId> result;
  std::size_t child = 1;
  for (const NodeId node : order)
    for (std::size_t i = 0; i < sends[node] && child < order.size(); ++i) result[order[child++]] = node;
  return result;
}

}  // namespace

Load least_sent(const Graph& graph, const IdMap<NodeId, Load>& out, Load limit, std::int64_t& steps,
                std::vector<Spreading>& spreadings) {
  return LeastSent(out, limit, steps, spreadings).run(graph);
}

void write_copies(const Graph& graph, const Cluster& cluster, const std::vector<Spreading>& spreadings, Plan& plan) {
  using Key = std::pair<ObjectId, NodeId>;
  std::map<Key, NodeId> from;
  for (const Spreading& spreading : spreadings)
    for (const auto& one : sources(spreading)) from[{spreading.object, one.first}] = one.second;
  std::map<Key, WorkerId> first;  // the worker of a node that has it first
  for (const ObjectId object : graph.objects().ids())
    if (const WorkerId home = graph.objects()[object].home; home >= 0) first[{object, cluster.node_of(home)}] = home;
  std::vector<std::vector<ObjectId>> inputs;
  for (const Step& step : plan.steps) {
    inputs.push_back(step.left < 0 ? graph.vertices()[step.vertex].inputs : std::vector{step.left, step.right});
    for (const ObjectId input : inputs.back()) first.emplace(Key{input, cluster.node_of(step.worker)}, step.worker);
    first.emplace(Key{step.result, cluster.node_of(step.worker)}, step.worker);
  }
  std::map<std::pair<ObjectId, WorkerId>, bool> held;
  for (const auto& one : first)
    if (from.count(one.first) == 0) held[{one.first.first, one.second}] = true;  // it lies or is made there
  plan.copies.clear();
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    Step& step = plan.steps[s];
    step.first = plan.copies.size();
    const NodeId node = cluster.node_of(step.worker);
    for (const ObjectId input : inputs[s]) {
      const WorkerId here = first.at({input, node});
      if (cluster.shared && step.worker != here) continue;
      if (std::exchange(held[{input, step.worker}], true)) continue;
      const WorkerId sender = step.worker == here ? first.at({input, from.at({input, node})}) : here;
      plan.copies.push_back({input, sender, step.worker});
    }
  }
}

}  // namespace kasen::spread
