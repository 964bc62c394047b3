// Gives every value of a program a layout over a mesh of workers and a state, and puts scatter, gather and relayout
// where they differ. Arrays are cut by one rule, the same for all; where an operator needs an operand otherwise, it is
// brought there in the cheaper of two ways. Requires level 1; gives level 2.
//
//   - The mesh's axes cut the dimensions of an array that are not local, in order; the last of these takes all that are
//     left: f64[N/a,K/b], f64[N/ab].
//   - An input, or an output, has the cuts that the user asks for.
//   - A value that a loop or a branch carries keeps the cuts of its first one.
//   - Values are P, and shareds C: contributions are gathered where they are made.
//   - A product is computed where operands and result move least (box_products.h).
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/sync/box_products.h"

namespace kasen {

class BoxPlacer {
 public:
  // The module has a mesh, and no sparse or compressed matrix. `sizes`: of dimensions, as far as they are known.
  // `asked`: the cuts that the user asks for, of inputs and of values that are outputs.
  using Asked = std::map<ValueId, std::vector<MeshAxes>>;
  BoxPlacer(Module& module, LawChecker& laws, const Polynomial::Bindings& sizes, Asked asked);
  void run();

 private:
  // The operators of an open block.
  struct Frame {
    std::vector<Op> ops;
  };

  void place_block(const Block& block);  // all but the yield, into the open frame
  void place(const Op& op);
  void bring_output(const Op& output);
  void source(const Op& op);
  void vector(const Op& op);
  void view(const Op& op);
  void reduce(const Op& op);
  void contraction(const Op& op);
  ValueId taken_up(ValueId array, const Op& factors);
  void list(const Op& op);
  void loop(const Op& op);
  void branch(const Op& op);

  // The cuts that are asked for, else those by the rule for all.
  [[nodiscard]] std::vector<MeshAxes> cuts_of(ValueId value) const;
  [[nodiscard]] std::vector<MeshAxes> usual_cuts(const std::vector<DimId>& dims) const;
  // Those of the kept axes of an operand, and of the mesh's axes that cut reduced ones, where these can come behind.
  [[nodiscard]] std::vector<MeshAxes> cuts_behind(const Op& op) const;
  void set_cuts(ValueId value, std::vector<MeshAxes> cuts);

  // The operand as an element-wise operator over the result reads it.
  [[nodiscard]] ValueId read_along(const Op& op, size_t operand);
  [[nodiscard]] ValueId with_cuts(ValueId value, const std::vector<MeshAxes>& cuts);
  [[nodiscard]] ValueId held_along(ValueId value, MeshAxes axes);
  // One version of a value is made where the value itself is: outside of the loops that use it.
  ValueId version(ValueId value, OpCode code, const Type& type, const char* suffix);

  // Adds an operator whose result gets the state that the rules give, and brings contributions to their owners. Later
  // readers find the last form of the result.
  void emit(Op op);
  void settle(ValueId made);
  void append(Op op, size_t depth) { frames_.at(depth).ops.push_back(std::move(op)); }
  void define(ValueId value) { depth_.resize(m_.values.size(), 0), depth_[value] = frames_.size() - 1; }
  [[nodiscard]] ValueId now(ValueId value) const {
    return value < now_.end_id() && now_[value] != no_value ? now_[value] : value;
  }

  Module& m_;
  LawChecker& laws_;
  const ProductSizes sizes_;
  const Asked asked_;
  Location where_;  // of the operator that is placed
  std::vector<Frame> frames_;
  IdMap<ValueId, size_t> depth_;  // the frame in which a value is made
  IdMap<ValueId, ValueId> now_;   // the form of a value that its readers get
  std::map<std::tuple<ValueId, std::vector<MeshAxes>, MeshAxes>, ValueId> versions_;
};

}  // namespace kasen
