// MAgg (Boehm et al., Table 1: full_agg of several): full aggregates over arrays of one shape, which read their common
// inputs once. A single one is a Cell operator. Those that run together are found after all others are chosen
// (select.h).
#include "libopt/fusion/templates.h"

namespace kasen::fusion::template_magg {

bool open(const Dag& dag, NodeId h) {
  return dag[h].form == Form::agg_full && dag.full_aggregates(dag[dag[h].inputs[0]].shape) > 1;
}

// It begins with its aggregates and absorbs the cells below them, so none goes on to a consumer.
bool fuse(const Dag& /*dag*/, NodeId /*h*/, NodeId /*in*/) { return false; }

bool merge(const Dag& dag, NodeId h, NodeId in) { return open(dag, h) && dag[in].form == Form::cell; }

Close close(const Dag& dag, NodeId h) {
  return dag[h].form == Form::agg_full ? Close::closed_valid : Close::closed_invalid;
}

bool together(const Dag& dag, NodeId a, NodeId b) { return dag[dag[a].inputs[0]].shape == dag[dag[b].inputs[0]].shape; }

}  // namespace kasen::fusion::template_magg
