// Fusion DAGs written down as in the paper (Boehm et al., VLDB 2018), and the paper's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libopt/fusion/dag.h"
#include "libopt/time/machine.h"

namespace kasen::fusion::testing {

// Axes by name; seconds by counting one plain operation a cell, two for each of a product's multiplications.
class DagBuilder {
 public:
  explicit DagBuilder(std::map<std::string, double> sizes) {
    for (const auto& [name, size] : sizes) axes_[name] = Axis{static_cast<int>(axes_.size()), size};
  }

  NodeId read(const std::string& name, const std::string& rows, const std::string& cols = "", double sparsity = 1) {
    return add(Form::read, name, {}, shape(rows, cols), 0, sparsity);
  }
  NodeId cell(const std::string& op, const std::vector<NodeId>& inputs, double operations = 1) {
    Shape widest = dag[inputs[0]].shape;
    for (const NodeId in : inputs) {
      if (dag[in].shape.cells() > widest.cells()) widest = dag[in].shape;
    }
    return add(Form::cell, op, inputs, widest, operations * widest.cells());
  }
  // A product cell by cell: zero wherever an operand is.
  NodeId times(const std::vector<NodeId>& inputs) {
    const NodeId made = cell("b(*)", inputs);
    dag[made].zero_at.assign(inputs.size(), true);
    for (const NodeId in : inputs) {
      if (dag[in].shape == dag[made].shape && dag[in].sparsity < dag[made].sparsity) make_like(made, in);
    }
    return made;
  }
  NodeId not_zero(NodeId in) {
    const NodeId made = cell("b(!=)", {in});
    dag[made].zero_at = {true};
    make_like(made, in);
    return made;
  }
  NodeId row_sums(NodeId in) { return aggregate(Form::agg_row, "ua(R+)", in, {dag[in].shape.rows, {}}); }
  NodeId col_sums(NodeId in) { return aggregate(Form::agg_col, "ua(C+)", in, {dag[in].shape.cols, {}}); }
  NodeId sum(NodeId in) { return aggregate(Form::agg_full, "ua(RC+)", in, {}); }
  NodeId product(NodeId a, NodeId b) {
    const Shape &left = dag[a].shape, &right = dag[b].shape;
    const Shape made{left.rows, right.cols};
    return add(Form::product, "ba(+*)", {a, b}, made, 2 * left.cells() * dag[a].sparsity * right.cols.size);
  }
  NodeId t(NodeId in) {
    const Node& turned = dag[in];
    return add(Form::transpose, "r(t)", {in}, {turned.shape.cols, turned.shape.rows}, 0, turned.sparsity);
  }
  NodeId range(NodeId in, const std::string& cols) {
    return add(Form::range, "rix", {in}, {dag[in].shape.rows, axes_.at(cols)}, 0);
  }
  void output(NodeId node) { dag[node].escapes = true; }

  Dag dag;

 private:
  Shape shape(const std::string& rows, const std::string& cols) const {
    return {rows.empty() ? Axis{} : axes_.at(rows), cols.empty() ? Axis{} : axes_.at(cols)};
  }
  NodeId aggregate(Form form, const std::string& op, NodeId in, const Shape& made) {
    return add(form, op, {in}, made, dag[in].shape.cells() * dag[in].sparsity);
  }
  // Stored, and computed, where `in` is.
  void make_like(NodeId made, NodeId in) {
    dag[made].seconds *= dag[in].sparsity / dag[made].sparsity;
    dag[made].sparsity = dag[in].sparsity;
    dag[made].bytes = dag[in].bytes;
  }
  NodeId add(Form form, const std::string& op, const std::vector<NodeId>& inputs, const Shape& made, double operations,
             double sparsity = 1) {
    Node node;
    node.form = form;
    node.op = op;
    if (form == Form::read) node.name = op;
    node.inputs = inputs;
    node.shape = made;
    node.sparsity = sparsity;
    node.bytes = made.is_scalar() ? 0 : made.cells() * (sparsity < 1 ? 12 * sparsity : 8);
    node.seconds = operations * MachineProfile{}.seconds(ScalarWork::plain);
    return dag.add(std::move(node));
  }

  std::map<std::string, Axis> axes_;
};

// Expression (2), the inner loop of MLogreg, in the numbering of Figure 5: inputs X, v and P are 1 to 3.
//   Q = P[, 1:k] * (X v);  H = t(X) (Q - P[, 1:k] * rowSums(Q))
inline Dag expression_2(double rows = 1e6, double features = 100, double classes = 4) {
  DagBuilder b({{"n", rows}, {"f", features}, {"k", classes}, {"k1", classes + 1}});
  const NodeId x = b.read("X", "n", "f"), v = b.read("v", "f", "k"), p = b.read("P", "n", "k1");
  const NodeId xv = b.product(x, v);                // 4
  const NodeId p_k = b.range(p, "k");               // 5
  const NodeId q = b.times({p_k, xv});              // 6
  const NodeId sums = b.row_sums(q);                // 7
  const NodeId scaled = b.times({p_k, sums});       // 8
  const NodeId rest = b.cell("b(-)", {q, scaled});  // 9
  b.output(b.product(b.t(x), rest));                // 10, 11
  return std::move(b.dag);
}

// Expression (1), the update rule of ALS-CG, without its cell-wise rest: ((X != 0) * (U t(V))) V.
//   X is 1, U 2, V 3, X != 0 4, t(V) 5, U t(V) 6, their product 7, O 8
inline Dag expression_1(double sparsity = 0.001) {
  DagBuilder b({{"n", 20000}, {"m", 10000}, {"r", 20}});
  const NodeId x = b.read("X", "n", "m", sparsity), u = b.read("U", "n", "r"), v = b.read("V", "m", "r");
  const NodeId mask = b.not_zero(x);
  const NodeId uv = b.product(u, b.t(v));
  b.output(b.product(b.times({mask, uv}), v));
  return std::move(b.dag);
}

}  // namespace kasen::fusion::testing
