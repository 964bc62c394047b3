#include "libopt/spread/plan.h"

#include <algorithm>

namespace kasen::spread {
namespace {

Load most(const Loads& loads, Load NodeLoad::*part) {
  Load result = 0;
  for (const NodeLoad& node : loads.nodes) result = std::max(result, node.*part);
  return result;
}

}  // namespace

Load Loads::memory() const { return most(*this, &NodeLoad::memory); }
Load Loads::in() const { return most(*this, &NodeLoad::in); }
Load Loads::out() const { return most(*this, &NodeLoad::out); }

std::span<const Copy> Plan::copies_of(std::size_t step) const {
  const std::size_t end = step + 1 < steps.size() ? steps[step + 1].first : copies.size();
  return std::span(copies).subspan(steps[step].first, end - steps[step].first);
}

Loads first_loads(const Graph& graph, const Cluster& cluster) {
  Loads loads;
  loads.nodes.resize(static_cast<std::size_t>(cluster.nodes));
  for (const Object& object : graph.objects())
    if (object.home >= 0) loads.nodes[cluster.node_of(object.home)].memory += object.elements * element_load;
  return loads;
}

void add_step(const Graph& graph, const Cluster& cluster, const Plan& plan, std::size_t step, Loads& loads) {
  for (const Copy& copy : plan.copies_of(step)) {
    const std::int64_t elements = graph.elements(copy.object);
    const NodeId from = cluster.node_of(copy.from), to = cluster.node_of(copy.to);
    const Load moved = elements * (from == to ? cluster.intra : element_load);
    (from == to ? loads.within : loads.between) += elements;
    loads.nodes[to].memory += elements * element_load;
    loads.nodes[to].in += moved;
    loads.nodes[from].out += moved;
  }
  const Step& made = plan.steps[step];
  loads.nodes[cluster.node_of(made.worker)].memory += graph.elements(made.result) * element_load;
}

Loads loads_of(const Graph& graph, const Cluster& cluster, const Plan& plan) {
  Loads loads = first_loads(graph, cluster);
  for (std::size_t step = 0; step < plan.steps.size(); ++step) add_step(graph, cluster, plan, step, loads);
  return loads;
}

}  // namespace kasen::spread
