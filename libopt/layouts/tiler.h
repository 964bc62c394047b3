// Writes down where the arrays of a program are cut over a mesh of workers: the cuts of every type, and relayouts where
// an array is needed otherwise than it is cut. Which workers hold copies of elements is for `place` (box_placer.h).
// Requires level 1, and keeps it.
//
// What is not decided follows the usual rules:
//   - An array is cut as usual_cuts says (cut_rules.h); a map's result as its first operand over all of its dimensions.
//   - A product is cut where operands and result move least (box_products.h).
//   - A value that a loop or a branch carries keeps the cuts of its first one.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/sync/box_products.h"

namespace kasen {

class Tiler {
 public:
  // The module has no sparse or compressed matrix.
  Tiler(Module& module, LawChecker& laws, const ProductSizes& sizes, TilingDecisions decided);
  void run();

 private:
  void tile_block(const Block& block);  // all but the yield, into the open frame
  void tile(const Op& op);
  void source(Op op);
  void vector(Op op);
  [[nodiscard]] bool rearranged(Op op);  // false: it works on whole lines
  [[nodiscard]] bool sorted(Op op);      // likewise
  [[nodiscard]] bool is_free() const;    // one worker moves nothing, whatever is decided
  void linear(Op op);
  void view(Op op);
  void reduce(Op op);
  void contraction(Op op);
  void list(Op op);
  void loop(const Op& op);
  void branch(const Op& op);
  void output(Op op);

  [[nodiscard]] const Cuts* decided(ValueId value) const;
  [[nodiscard]] Cuts cuts_of(ValueId value) const;
  void set_cuts(ValueId value, Cuts cuts);

  // The operand as it is decided; nothing decided: `usual`.
  [[nodiscard]] ValueId read(const Op& op, std::size_t operand, const Cuts& usual);
  [[nodiscard]] Cuts usual_read(const Op& op, std::size_t operand) const;
  [[nodiscard]] ValueId with_cuts(ValueId value, const Cuts& cuts);
  ValueId relayout(ValueId value, const Cuts& cuts, std::size_t depth);

  void emit(Op op);
  void append(Op op, std::size_t depth) { frames_.at(depth).push_back(std::move(op)); }
  void define(ValueId value) { depth_.resize(m_.values.size(), 0), depth_[value] = frames_.size() - 1; }
  [[nodiscard]] ValueId now(ValueId value) const {
    return value < now_.end_id() && now_[value] != no_value ? now_[value] : value;
  }
  void read_now(Op& op) const {
    for (ValueId& v : op.operands) v = now(v);
  }

  Module& m_;
  LawChecker& laws_;
  const ProductSizes& sizes_;
  const TilingDecisions decided_;
  std::map<const Op*, int> numbers_;     // of the program's operators
  int number_ = -1;                      // of the operator at hand
  Location where_;                       // likewise
  std::vector<std::vector<Op>> frames_;  // the operators of the open blocks
  IdMap<ValueId, std::size_t> depth_;    // the frame in which a value is made
  IdMap<ValueId, ValueId> now_;          // the form of a value that its readers get
  std::map<std::pair<ValueId, Cuts>, ValueId> versions_;
};

}  // namespace kasen
