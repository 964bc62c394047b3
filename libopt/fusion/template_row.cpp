// Row (Boehm et al., Table 1: no_agg, row_agg, col_agg, full_agg, col_t_agg): one row of the main input at a time. It
// goes through products with small matrices, element-wise work and aggregates of rows. Its results have one row each,
// or they are sums over all rows (t(X) Y, column and full aggregates), which close it.
#include <algorithm>

#include "libopt/fusion/templates.h"
#include "libopt/time/machine.h"

namespace kasen::fusion::template_row {
namespace {

constexpr double number_bytes = 8, few_columns = 64;

// Each row of `in` belongs to one row of `h`. In a square array a vector may belong to either axis.
bool same_rows(const Dag& dag, NodeId h, NodeId in) {
  const Shape &a = dag[h].shape, &b = dag[in].shape;
  if (a.rows == a.cols && !(a == b)) return false;
  return a.rows.is_wide() && a.rows == b.rows;
}

// An operand that each row meets or adds to has to stay in a cache, or goes along with the row: a vector and a few
// columns always do, else a small matrix.
bool is_small(const Axis& rows, const Axis& cols) {
  return !cols.is_wide() || cols.size <= few_columns || rows.size * cols.size * number_bytes <= near_span;
}

// A product that is larger than its operands belongs to Outer, if cells of its shape meet a sparse matrix that may
// drive it.
bool has_driver(const Dag& dag, NodeId product) {
  const IdSequence<NodeId> ids = dag.ids();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) {
    const std::vector<NodeId>& inputs = dag[id].inputs;
    return dag[id].form == Form::cell && dag[id].shape == dag[product].shape &&
           std::any_of(inputs.begin(), inputs.end(), [&](NodeId in) { return dag[in].sparsity < 1; });
  });
}

// A B, with one row of A at a time.
bool is_row_product(const Dag& dag, NodeId h) {
  if (dag[h].form != Form::product || !dag[h].by_rows || is_transposed_product(dag, h)) return false;
  if (is_outer_product(dag, h) && has_driver(dag, h)) return false;
  const Shape &a = dag[dag[h].inputs[0]].shape, &b = dag[dag[h].inputs[1]].shape;
  return a.is_matrix() && is_small(b.rows, b.cols);
}

// t(A) B: rows of A and B with one another, summed (col_t_agg; with one column of B, col_agg_B1).
bool is_column_product(const Dag& dag, NodeId h) {
  if (!is_transposed_product(dag, h) || !dag[h].by_rows) return false;
  return dag[dag[h].inputs[0]].shape.is_matrix() && is_small(dag[h].shape.rows, dag[h].shape.cols);
}

bool reads_matrix(const Dag& dag, NodeId h) {
  for (const NodeId in : dag[h].inputs) {
    if (dag[in].shape.is_matrix() && same_rows(dag, h, in)) return true;
  }
  return false;
}

// Holds only if its one consumer goes through the rows of the matrix that it transposes.
bool is_turned_for_product(const Dag& dag, NodeId h) {
  const Node& node = dag[h];
  return node.uses() == 1 && !node.consumers.empty() && is_column_product(dag, node.consumers[0]) &&
         dag[node.consumers[0]].inputs[0] == h;
}

// The inputs of a product that come by rows: A, or both inputs of t(A) B.
bool comes_by_rows(const Dag& dag, NodeId h, NodeId in) {
  if (is_row_product(dag, h)) return dag[h].inputs[0] == in && dag[h].inputs[1] != in;
  return is_column_product(dag, h);
}

// What a fold reads of a row, beside the row itself.
bool comes_along(const Dag& dag, NodeId h, NodeId in) {
  const Axis& rows = dag[dag.stored(dag[h].inputs[0])].shape.rows;
  return in != dag[h].inputs[0] && dag[in].shape.rows == rows && rows.is_wide();
}

}  // namespace

bool open(const Dag& dag, NodeId h) {
  const Node& node = dag[h];
  if (!node.by_rows) return false;
  switch (node.form) {
    case Form::cell:
      return reads_matrix(dag, h);
    case Form::agg_row:
    case Form::agg_col:
      return dag[node.inputs[0]].shape.is_matrix();
    case Form::product:
      return is_row_product(dag, h);
    case Form::transpose:
      return is_turned_for_product(dag, h);
    case Form::range:
    case Form::fold:
      return true;
    case Form::read:
    case Form::agg_full:
      break;
  }
  return false;
}

// Values that are stored at entries lie over these, and not along the rows that made them: no aggregate or cell goes
// on.
bool fuse(const Dag& dag, NodeId h, NodeId in) {
  if (!dag[h].by_rows || (dag[in].stores && dag[h].form != Form::fold)) return false;
  switch (dag[h].form) {
    case Form::cell:
      return same_rows(dag, h, in);
    case Form::agg_row:
    case Form::agg_col:
    case Form::agg_full:
    case Form::range:
      return true;
    case Form::product:
      return comes_by_rows(dag, h, in);
    case Form::transpose:
      return is_turned_for_product(dag, h);
    case Form::fold:
      return comes_along(dag, h, in);
    case Form::read:
      break;
  }
  return false;
}

bool merge(const Dag& dag, NodeId h, NodeId in) {
  if (!dag[h].by_rows || !dag[in].by_rows) return false;
  if (dag[h].form == Form::cell) return same_rows(dag, h, in);
  if (dag[h].form == Form::fold) return comes_along(dag, h, in);
  return dag[h].form == Form::product && comes_by_rows(dag, h, in);
}

// "Only column-wise or full aggregations close a Row template" (section 3.2); so does t(A) B.
Close close(const Dag& dag, NodeId h) {
  const Form form = dag[h].form;
  const bool over_rows = form == Form::fold && dag[dag[h].inputs[0]].form == Form::transpose;
  if (form == Form::agg_col || form == Form::agg_full || over_rows || is_transposed_product(dag, h)) {
    return Close::closed_valid;
  }
  return form == Form::transpose ? Close::open_invalid : Close::open_valid;
}

}  // namespace kasen::fusion::template_row
