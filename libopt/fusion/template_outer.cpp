// Outer (Boehm et al., Table 1: left_mm, right_mm, no_agg, full_agg): an outer-product-like U t(V), multiplied with a
// sparse matrix. Only cells that this matrix stores are computed: (X * (U t(V))) W, sum(X * log(U t(V) + eps)). A fold
// is all of this already: it begins and ends here, and others of its driver may run with it.
#include <algorithm>

#include "libopt/fusion/templates.h"

namespace kasen::fusion::template_outer {
namespace {

constexpr double least_side = 256;  // "size constraints" (section 3.2): smaller products are dense work

// Returns true if a factor is stored sparsely: the driver.
bool multiplies_driver(const Dag& dag, NodeId h) {
  const Node& node = dag[h];
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Node& in = dag[node.inputs[i]];
    if (node.form == Form::cell && node.zero_at[i] && in.shape == node.shape && in.sparsity < 1) return true;
  }
  return false;
}

bool same_shape(const Dag& dag, NodeId h, NodeId in) { return dag[in].shape == dag[h].shape; }

bool is_second_product(const Dag& dag, NodeId h) { return dag[h].form == Form::product && !is_outer_product(dag, h); }

// "Validated for the existence of sparsity exploiting operators" (section 3.2): the input that a product or an
// aggregate absorbs must have been masked directly before it.
bool is_masked(const Dag& dag, NodeId h) {
  const std::vector<NodeId>& inputs = dag[h].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](NodeId in) { return multiplies_driver(dag, dag.stored(in)); });
}

}  // namespace

bool open(const Dag& dag, NodeId h) {
  const Shape& shape = is_outer_fold(dag, h) ? dag[dag[h].inputs[0]].shape : dag[h].shape;
  return (is_outer_product(dag, h) || is_outer_fold(dag, h)) && shape.rows.size > least_side &&
         shape.cols.size > least_side;
}

bool fuse(const Dag& dag, NodeId h, NodeId in) {
  switch (dag[h].form) {
    case Form::cell:
      return same_shape(dag, h, in);
    case Form::agg_full:
    case Form::transpose:
      return true;
    case Form::product:
      return is_second_product(dag, h);
    default:
      return false;
  }
}

// Cells of the product's shape: their mask may be made within the operator ((X != 0) * (U t(V))).
bool merge(const Dag& dag, NodeId h, NodeId in) { return dag[h].form == Form::cell && same_shape(dag, h, in); }

Close close(const Dag& dag, NodeId h) {
  if (dag[h].form == Form::fold) return Close::closed_valid;
  if (dag[h].form == Form::agg_full || is_second_product(dag, h)) {
    return is_masked(dag, h) ? Close::closed_valid : Close::closed_invalid;
  }
  return multiplies_driver(dag, h) ? Close::open_valid : Close::open_invalid;
}

bool together(const Dag& dag, NodeId a, NodeId b) {
  return is_outer_fold(dag, a) && is_outer_fold(dag, b) && are_like_products(dag, a, b);
}

}  // namespace kasen::fusion::template_outer
