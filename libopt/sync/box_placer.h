// Gives every value of a program over a mesh of workers a state, and puts scatter and gather where these differ. Where
// its arrays are cut is decided before (libopt/layouts). Requires level 1; gives level 2.
//
//   - Values are P, and shareds C: contributions are gathered where they are made.
//   - A product is computed where operands and result move least (box_products.h). One that another product alone reads
//     is C along the axes where all workers make it themselves, if that moves less.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/sync/box_products.h"

namespace kasen {

class BoxPlacer {
 public:
  // All arrays have their cuts. `sizes`: of dimensions, as far as they are known.
  BoxPlacer(Module& module, LawChecker& laws, const Polynomial::Bindings& sizes);
  void run();

 private:
  void place_block(const Block& block);  // all but the yield, into the open frame
  void place(const Op& op);
  void as_it_is(const Op& op);
  void relayout(const Op& op);
  void vector(const Op& op);
  void contraction(const Op& op);
  void hold_operands(Op& product, std::array<MeshAxes, 2> along);
  [[nodiscard]] std::optional<ProductWay> repeated(const Op& op, const ProductWay& once);
  ValueId taken_up(ValueId array, const Op& factors);
  void loop(const Op& op);
  void branch(const Op& op);
  void blocks(const Op& op);

  [[nodiscard]] ValueId held_along(ValueId value, MeshAxes axes);
  // One version of a value is made where the value itself is: outside of the loops that use it.
  ValueId version(ValueId value, OpCode code, const Type& type, const char* suffix);

  // Adds an operator whose result gets the state that the rules give, and brings contributions to their owners. Later
  // readers find the last form of the result.
  // `everywhere`: a result that all workers along some axes have made is C there; else its owners alone keep it.
  void emit(Op op, bool everywhere = true);
  void settle(ValueId made);
  void append(Op op, size_t depth) { frames_.at(depth).push_back(std::move(op)); }
  void define(ValueId value) { depth_.resize(m_.values.size(), 0), depth_[value] = frames_.size() - 1; }
  [[nodiscard]] ValueId now(ValueId value) const {
    return value < now_.end_id() && now_[value] != no_value ? now_[value] : value;
  }

  Module& m_;
  LawChecker& laws_;
  const ProductSizes sizes_;
  Location where_;                       // of the operator that is placed
  std::vector<std::vector<Op>> frames_;  // the operators of the open blocks
  IdMap<ValueId, size_t> depth_;         // the frame in which a value is made
  IdMap<ValueId, ValueId> now_;          // the form of a value that its readers get
  std::map<std::tuple<ValueId, OpCode, MeshAxes>, ValueId> versions_;
  std::map<ValueId, const Op*> only_reader_;  // of values that one contraction alone reads, once
};

}  // namespace kasen
