// How the arrays of a program may be cut over a mesh of workers, and what a search decides about them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

using Cuts = std::vector<AxisCut>;  // of a type (Type::cuts)

// Values and operators (their preorder numbers) are those of the program before.
struct TilingDecisions {
  std::map<ValueId, Cuts> cuts;                      // of a value as its readers find it; others: by the usual rules
  std::map<std::pair<int, std::size_t>, Cuts> read;  // in which an operator reads its operand; others: likewise
  std::set<int> straight;                            // operators in a way that is straight (ReadingWay)
  std::set<std::pair<ValueId, Cuts>> anew;           // copies that are made at each read, not once where the value is
};

// Each way to give every axis of the mesh to one of the dimensions that are not local, the usual one first (of equal
// costs, the first is taken). Local dimensions alone have none. A dimension of workers gets all: index w is worker w's.
[[nodiscard]] std::vector<Cuts> possible_cuts(const Module& module, const std::vector<DimId>& dims);

[[nodiscard]] std::string cuts_text(const Module& module, const std::vector<DimId>& dims,
                                    const Cuts& cuts);  // "[N/a,K]"

// True for an array that somebody wants whole: all workers have it.
[[nodiscard]] bool is_uncut(const Cuts& cuts);

// True if some dimension is cut in blocks that are dealt out cyclically.
[[nodiscard]] bool has_blocks(const Cuts& cuts);

// The cuts that arrays can have: the possible ones; some of these in blocks that somebody asks for a dimension; then
// those that somebody asks for an array over these dimensions.
class CutChoices {
 public:
  explicit CutChoices(const Module& module, const std::map<ValueId, Cuts>& asked = {});
  [[nodiscard]] std::vector<Cuts> of(const std::vector<DimId>& dims) const;

 private:
  void add_blocks(const Cuts& cuts, const std::vector<DimId>& dims, std::size_t most, std::vector<Cuts>& all) const;

  const Module& module_;
  std::map<std::vector<DimId>, std::vector<Cuts>> asked_;
  std::map<DimId, Cuts> blocks_;  // cuts in blocks that somebody asks for
};

// The axes of the mesh cut the dimensions that are not local, in order; the last of these takes all that are left. The
// first dimension of workers takes all.
[[nodiscard]] Cuts usual_cuts(const Module& module, const std::vector<DimId>& dims);

// The cuts with which a reduction makes its result: those of the operand's kept axes. The axes of the mesh that cut
// reduced dimensions come behind these: as in `wanted` where that is possible (null: anything is), else behind the
// first where they can.
[[nodiscard]] Cuts cuts_behind(const Module& module, const Op& reduction, const Cuts* wanted);

// The cuts with which an operator along an axis makes its result, where `wanted` are asked for: a line is made whole,
// which axes of one place leave it.
[[nodiscard]] Cuts made_cuts(const Module& module, const Op& axis_op, Cuts wanted);

// The cuts with which workers make the lines of a scan or sort together, where these are asked for: in runs, not
// blocks.
[[nodiscard]] Cuts lines_in_runs(const Module& module, const Op& op, Cuts wanted);

// True if a slice, concatenation or reshape of this operand, with the cuts of both, sends elements straight to the
// owners of its result: a line that it needs is cut, or lines that it makes. Not where that would take very many runs.
[[nodiscard]] bool goes_straight(const Module& module, const Op& op, std::size_t operand);

// The cuts with which a view shows its operand.
[[nodiscard]] Cuts view_cuts(const Module& module, const Op& view);

// True if arrays have their cuts already.
[[nodiscard]] bool is_tiled(const Module& module);

}  // namespace kasen
