// The operators of one block as fusion plans see them (Boehm et al., VLDB 2018, section 2.1: a DAG of high-level
// operators). A node states the operator's kind, its rows and columns, and what it touches and computes. It knows
// nothing of states, buffers or scalar functions. from_module.h makes such a DAG of a block of the IR; tests build
// theirs directly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/id.h"

namespace kasen::fusion {

using NodeId = Id<struct NodeTag>;  // index in Dag::nodes
inline constexpr NodeId no_node{-1};

// An index space. Two arrays run alike along axes of one id. An axis without an id is one index wide.
struct Axis {
  int id = -1;
  double size = 1;

  [[nodiscard]] bool is_wide() const { return id >= 0; }
  friend bool operator==(const Axis& a, const Axis& b) { return a.id == b.id; }
};

struct Shape {
  Axis rows, cols;

  [[nodiscard]] bool is_scalar() const { return !rows.is_wide() && !cols.is_wide(); }
  [[nodiscard]] bool is_matrix() const { return rows.is_wide() && cols.is_wide(); }
  [[nodiscard]] double cells() const { return rows.size * cols.size; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

enum class Form : std::uint8_t {
  read,       // it comes from outside, or from an operator that no template covers
  cell,       // element by element; operands may have fewer axes than the result
  agg_row,    // it reduces each row to one number
  agg_col,    // it reduces each column to one number
  agg_full,   // it reduces all elements to one number
  product,    // A B, with the inputs A, then B
  fold,       // a function of the nonzeros of the first input and of the others at their rows and columns, summed
  transpose,  // a view: it moves nothing and computes nothing
  range,      // some columns
};
[[nodiscard]] inline bool is_aggregate(Form form) {
  return form == Form::agg_row || form == Form::agg_col || form == Form::agg_full;
}

struct Node {
  Form form = Form::read;
  std::string op, name;        // "map[mul]", "rank": how it is printed
  std::vector<NodeId> inputs;  // earlier nodes; scalars are not among them
  std::vector<bool> apart;     // by input: it is always in memory, since both do not run over the same elements
  std::vector<bool> zero_at;   // for a cell, by input: the result is zero where that input is
  std::vector<NodeId> waits;   // nodes of this DAG from which others make it, or a number that it takes (in any order)
  Shape shape;
  double bytes = 0;       // of the result in memory; of a sparse one, of its nonzeros
  double sparsity = 1;    // the share of the cells that are stored
  double seconds = 0;     // of computing it once, by all processes together
  double in_rows = 0;     // seconds beyond these if it goes over a sparse matrix among other work on its rows
  bool outer = false;     // of a fold: its function has a U t(V), made at each nonzero
  bool by_rows = true;    // other work on the same rows may run with it
  bool stores = false;    // of a fold: it sums nothing, and gives a value for each nonzero
  bool visits = false;    // of a product or fold: it goes over a block's nonzeros, and no other matrix's beside them
  bool hands_on = false;  // a cell: it computes owned elements, and those of its input stay beside them as they are
  bool escapes = false;   // something that is not a node of this DAG needs it in memory

  std::vector<NodeId> consumers;  // set by Dag::add, ascending, each once
  [[nodiscard]] size_t uses() const { return consumers.size() + (escapes ? 1 : 0); }
};

class Dag {
 public:
  NodeId add(Node node);

  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] IdSequence<NodeId> ids() const { return nodes_.ids(); }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  [[nodiscard]] Node& operator[](NodeId id) { return nodes_[id]; }
  // Returns the result in memory that reading this node reads. For a view it is that of the view's input.
  [[nodiscard]] NodeId stored(NodeId id) const;
  // Counts the full aggregates over arrays of this shape.
  [[nodiscard]] int full_aggregates(const Shape& shape) const;
  // Counts the products and folds like this one (are_like_products), including itself.
  [[nodiscard]] int like_products(NodeId id) const;

 private:
  IdMap<NodeId, Node> nodes_;
  std::vector<std::pair<Shape, int>> full_aggregates_;
  std::vector<std::pair<NodeId, int>> like_products_;  // the first of each kind
};

// Returns the number that people see: nodes are counted from 1, as in the paper.
[[nodiscard]] inline int shown(NodeId id) { return id + 1; }

// Returns true for a wide product U t(V), which is larger than its operands' common axis (section 3.2, Outer).
[[nodiscard]] bool is_outer_product(const Dag& dag, NodeId id);
// Returns true for a product t(M) B whose transposed operand is a view: the product runs over the rows of M.
[[nodiscard]] inline bool is_transposed_product(const Dag& dag, NodeId id) {
  return dag[id].form == Form::product && dag[dag[id].inputs[0]].form == Form::transpose;
}
// Returns true for a fold with a U t(V) of points, which is made at the nonzeros of its driver alone.
[[nodiscard]] inline bool is_outer_fold(const Dag& dag, NodeId id) {
  return dag[id].form == Form::fold && dag[id].outer;
}

// Returns the matrix whose nonzeros a product or fold visits, or no_node.
[[nodiscard]] inline NodeId visited_matrix(const Dag& dag, NodeId id) {
  return dag[id].visits ? dag.stored(dag[id].inputs[0]) : no_node;
}

// Returns true for a matrix times a vector.
[[nodiscard]] bool is_vector_product(const Dag& dag, NodeId id);
// Returns true for two products of one matrix in memory, or folds of it, in the same direction. Products are with
// vectors, or of a sparse matrix.
[[nodiscard]] bool are_like_products(const Dag& dag, NodeId a, NodeId b);

}  // namespace kasen::fusion
