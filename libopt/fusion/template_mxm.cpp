// MxM (KASEN, section 5.2): products of one matrix with vectors and folds of it, in one direction, which read its
// nonzeros once. It absorbs nothing. Those that run together are found after all others are chosen (select.h).
#include "libopt/fusion/templates.h"

namespace kasen::fusion::template_mxm {

bool open(const Dag& dag, NodeId h) { return dag.like_products(h) > 1; }

bool fuse(const Dag& /*dag*/, NodeId /*h*/, NodeId /*in*/) { return false; }

bool merge(const Dag& /*dag*/, NodeId /*h*/, NodeId /*in*/) { return false; }

Close close(const Dag& dag, NodeId h) {
  return are_like_products(dag, h, h) ? Close::closed_valid : Close::closed_invalid;
}

// Of several columns, a product joins folds alone.
bool together(const Dag& dag, NodeId a, NodeId b) {
  const bool fold = dag[a].form == Form::fold || dag[b].form == Form::fold;
  return are_like_products(dag, a, b) && (a == b || fold || (is_vector_product(dag, a) && is_vector_product(dag, b)));
}

}  // namespace kasen::fusion::template_mxm
