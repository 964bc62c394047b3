// Cell (Boehm et al., Table 1: no_agg, row_agg, col_agg, full_agg): a chain of element-wise operators over one shape.
// It runs one cell at a time and has at most one aggregate at its end.
#include "libopt/fusion/templates.h"

namespace kasen::fusion::template_cell {
namespace {

// Element by element over arrays. A value with fewer axes than the result is not computed anew in each of its cells.
bool same_cells(const Dag& dag, NodeId h, NodeId in) {
  return dag[h].form == Form::cell && dag[in].shape == dag[h].shape;
}

// t(u) v of two vectors: the sum of their cells' products.
bool is_inner_product(const Dag& dag, NodeId h) { return dag[h].form == Form::product && dag[h].shape.is_scalar(); }

}  // namespace

bool open(const Dag& dag, NodeId h) {
  const Node& node = dag[h];
  if (is_aggregate(node.form)) return !dag[node.inputs[0]].shape.is_scalar();
  return node.form == Form::cell && !node.shape.is_scalar();
}

// Values are stored at entries by work along rows. Of two that hand ghosts on, neither computes beside the other. Rows
// and columns are summed along with the work on them.
bool fuse(const Dag& dag, NodeId h, NodeId in) {
  if ((dag[h].hands_on && dag[in].hands_on) || dag[in].stores) return false;
  const bool lines = dag[h].form == Form::agg_row || dag[h].form == Form::agg_col;
  if (lines && !(dag[h].by_rows && dag[in].by_rows)) return false;
  return same_cells(dag, h, in) || is_aggregate(dag[h].form) || is_inner_product(dag, h);
}

bool merge(const Dag& dag, NodeId h, NodeId in) {
  return !dag[in].stores && (same_cells(dag, h, in) || is_inner_product(dag, h));
}

// "Any aggregation closes a Cell template" (section 3.2).
Close close(const Dag& dag, NodeId h) {
  const Form form = dag[h].form;
  if (is_aggregate(form) || is_inner_product(dag, h)) return Close::closed_valid;
  return form == Form::cell ? Close::open_valid : Close::closed_invalid;
}

}  // namespace kasen::fusion::template_cell
