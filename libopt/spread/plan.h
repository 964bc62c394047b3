// A placement of all block operators, and the loads that it puts on nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libopt/spread/graph.h"

namespace kasen::spread {

// A worker gets a block from another one, and keeps it.
struct Copy {
  ObjectId object;
  WorkerId from, to;
  friend bool operator==(const Copy&, const Copy&) = default;
};

// A task, or one addition of a sum. Steps stand in an order in which they can run.
struct Step {
  VertexId vertex;
  WorkerId worker;
  ObjectId left, right;   // of an addition
  ObjectId result;        // what it makes: a partial sum, or the output
  std::size_t first = 0;  // its copies begin here in Plan::copies, and end where those of the next step begin
  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  std::string search;  // the name of what found it
  std::vector<Step> steps;
  std::vector<Copy> copies;

  [[nodiscard]] std::span<const Copy> copies_of(std::size_t step) const;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// What a node has to hold, receives and sends. Blocks that are there in the beginning count, and nothing is forgotten.
struct NodeLoad {
  Load memory = 0, in = 0, out = 0;
  friend bool operator==(const NodeLoad&, const NodeLoad&) = default;
};

struct Loads {
  IdMap<NodeId, NodeLoad> nodes;
  std::int64_t between = 0, within = 0;  // elements that move between nodes, and from worker to worker in one

  [[nodiscard]] Load memory() const;  // the most of any node
  [[nodiscard]] Load in() const;
  [[nodiscard]] Load out() const;
  [[nodiscard]] Load objective() const { return memory() + in() + out(); }
};

[[nodiscard]] Loads first_loads(const Graph& graph, const Cluster& cluster);
void add_step(const Graph& graph, const Cluster& cluster, const Plan& plan, std::size_t step, Loads& loads);
[[nodiscard]] Loads loads_of(const Graph& graph, const Cluster& cluster, const Plan& plan);

}  // namespace kasen::spread
