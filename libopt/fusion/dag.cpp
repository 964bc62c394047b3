#include "libopt/fusion/dag.h"

#include <algorithm>

#include "libcore/error.h"

namespace kasen::fusion {

NodeId Dag::add(Node node) {
  const NodeId id = size();
  node.apart.resize(node.inputs.size(), false);
  node.zero_at.resize(node.inputs.size(), false);
  for (const NodeId in : node.inputs) {
    if (in < 0 || in >= id) throw InternalError("a node of a fusion DAG before its input");
    std::vector<NodeId>& consumers = (*this)[in].consumers;
    if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
  }
  if (node.form == Form::agg_full) {
    const Shape& shape = (*this)[node.inputs.at(0)].shape;
    const auto at = std::find_if(full_aggregates_.begin(), full_aggregates_.end(),
                                 [&](const auto& counted) { return counted.first == shape; });
    if (at == full_aggregates_.end()) {
      full_aggregates_.emplace_back(shape, 1);
    } else {
      ++at->second;
    }
  }
  nodes_.push_back(std::move(node));
  return id;
}

NodeId Dag::stored(NodeId id) const {
  while ((*this)[id].form == Form::transpose) id = (*this)[id].inputs[0];
  return id;
}

int Dag::full_aggregates(const Shape& shape) const {
  for (const auto& [counted, count] : full_aggregates_) {
    if (counted == shape) return count;
  }
  return 0;
}

bool is_outer_product(const Dag& dag, NodeId id) {
  const Node& node = dag[id];
  if (node.form != Form::product || !node.shape.is_matrix()) return false;
  return dag[node.inputs[0]].shape.cols.size < std::min(node.shape.rows.size, node.shape.cols.size);
}

}  // namespace kasen::fusion
