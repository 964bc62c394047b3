// What the operators of a program need, for every way to cut their arrays: in which forms they can read their operands,
// and what moves for their results. The rules are the state rules (libcore/analysis/state_rules.h); the bytes are the
// actual column's.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/moves.h"

namespace kasen {

// A copy of an array: its cuts, and the axes of the mesh along which all workers hold their elements.
struct CopyForm {
  Cuts cuts;
  MeshAxes held = 0;
  friend auto operator<=>(const CopyForm&, const CopyForm&) = default;
};

struct ReadingWay {
  std::vector<CopyForm> forms;  // of each operand
  double moved = 0;             // bytes for the result in one execution
  bool straight = false;        // operands' elements go straight to the result's owners, or parts take up carries
};

// One operator and those of its operands whose forms are chosen together.
struct Reading {
  int op = -1;                                // preorder number
  std::vector<std::size_t> operands;          // positions among the operator's operands
  std::vector<ValueId> read;                  // the values there
  ValueId result = no_value;                  // no_value: a shared, or nothing
  bool decides = false;                       // the tiler takes the cuts of the forms (TilingDecisions::read)
  std::vector<std::vector<ReadingWay>> ways;  // by the result's cuts in the order of CutChoices; one without a result
  // Those in which all workers along some axes make the result, by its cuts and these axes.
  std::map<std::pair<std::size_t, MeshAxes>, std::vector<ReadingWay>> made_along = {};
};

// `sized`: of level 1, with a mesh and all sizes. It takes cuts as they are tried, and has none again at the end.
[[nodiscard]] std::vector<Reading> readings_of(Module& sized, LawChecker& laws, Moves& moves,
                                               const CutChoices& choices);

}  // namespace kasen
