#include "libopt/fusion/dag.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace kasen::fusion {
namespace {

// Counts one more of a kind.
template <class Kind, class IsLike>
void count(std::vector<std::pair<Kind, int>>& counts, const Kind& kind, IsLike is_like) {
  const auto at =
      std::find_if(counts.begin(), counts.end(), [&](const auto& counted) { return is_like(counted.first); });
  if (at == counts.end()) {
    counts.emplace_back(kind, 1);
  } else {
    ++at->second;
  }
}

// Of several columns, a product joins folds, which are of sparse matrices. Values of nonzeros are stored by themselves.
bool passes_matrix(const Dag& dag, NodeId id) {
  if (dag[id].stores) return false;
  const bool stored = dag[id].form == Form::product && dag[dag[id].inputs[0]].sparsity < 1;
  return dag[id].form == Form::fold || is_vector_product(dag, id) || stored;
}

}  // namespace

NodeId Dag::add(Node node) {
  const NodeId id = nodes_.end_id();
  node.apart.resize(node.inputs.size(), false);
  node.zero_at.resize(node.inputs.size(), false);
  for (const NodeId in : node.inputs) {
    if (in < 0 || in >= id) throw InternalError("a node of a fusion DAG before its input");
    std::vector<NodeId>& consumers = (*this)[in].consumers;
    if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
  }
  nodes_.push_back(std::move(node));
  const Node& added = nodes_.back();
  if (added.form == Form::agg_full) {
    const Shape& shape = (*this)[added.inputs.at(0)].shape;
    count(full_aggregates_, shape, [&](const Shape& known) { return known == shape; });
  }
  if (passes_matrix(*this, id))
    count(like_products_, id, [&](NodeId known) { return are_like_products(*this, known, id); });
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

int Dag::like_products(NodeId id) const {
  for (const auto& [first, count] : like_products_) {
    if (are_like_products(*this, first, id)) return count;
  }
  return 0;
}

bool is_outer_product(const Dag& dag, NodeId id) {
  const Node& node = dag[id];
  if (node.form != Form::product || !node.shape.is_matrix()) return false;
  return dag[node.inputs[0]].shape.cols.size < std::min(node.shape.rows.size, node.shape.cols.size);
}

bool is_vector_product(const Dag& dag, NodeId id) {
  const Node& node = dag[id];
  return node.form == Form::product && dag[node.inputs[0]].shape.is_matrix() && !dag[node.inputs[1]].shape.is_matrix();
}

bool are_like_products(const Dag& dag, NodeId a, NodeId b) {
  const auto matrix = [&](NodeId id) -> NodeId { return dag[id].inputs[0]; };
  return passes_matrix(dag, a) && passes_matrix(dag, b) && dag.stored(matrix(a)) == dag.stored(matrix(b)) &&
         (dag[matrix(a)].form == Form::transpose) == (dag[matrix(b)].form == Form::transpose);
}

}  // namespace kasen::fusion
