// Operators along an axis, and reductions by keys, of a random module.
#pragma once

#include "tests/core/mesh_module_maker.h"

namespace kasen::testing {

class AxisOperators : public ModuleMaker {
 public:
  using ModuleMaker::ModuleMaker;

 protected:
  // A scan or a sort, which would bring infinities of empty reductions to other places. Most results are cut as their
  // operand is, but along the lines: only sorts may be cut there.
  void along(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (from.dims.empty() || is_square(from.dims)) return;
    const bool any_empty =
        std::any_of(module_.dims.begin(), module_.dims.end(), [](const Dimension& d) { return d.size == 0; });
    op.code = any_empty || chance(0.6) ? OpCode::scan : OpCode::sort;
    if (op.code == OpCode::scan) op.fns = {chance(0.7) ? add_ : most_};
    const auto axis = static_cast<size_t>(below(static_cast<int>(from.dims.size())));
    op.over = {from.dims[axis]};
    std::vector<AxisCut> cuts = chance(0.8) ? from.cuts : some_cuts(from.dims);
    if (!cuts.empty() && chance(op.code == OpCode::sort ? 0.5 : 0.4)) cuts[axis] = {};
    op.results = {value(from.dims, std::move(cuts))};
    keep(std::move(op));
  }

  // Keys as they are, or elsewhere.
  ValueId some_of(std::vector<ValueId>& keys) {
    Op op;
    op.operands = {keys[static_cast<size_t>(below(static_cast<int>(keys.size())))]};
    const size_t before = values_.size();
    if (chance(0.5)) transition(op);
    if (values_.size() == before && chance(0.3)) relayout(op);
    if (values_.size() == before) return op.operands[0];
    keys.push_back(values_.back());
    values_.pop_back();
    return keys.back();
  }

  // A reduction by keys, cut like its array and along the keys over axes that are reduced.
  void group(Op op) {
    const std::vector<DimId> dims = module_.type(op.operands[0]).dims;
    op.operands.push_back(some_of(keys_));
    const std::vector<DimId> of_keys = module_.type(op.operands[1]).dims;
    const std::vector<DimId>& walked = dims.empty() ? of_keys : dims;
    const bool within = std::all_of(of_keys.begin(), of_keys.end(), [&](DimId d) { return contains(walked, d); });
    if (!within || is_square(walked)) return;
    op.code = OpCode::reduce_by;
    op.fns = {chance(0.7) ? add_ : most_};
    for (const DimId d : of_keys) {
      if (op.over.empty() || chance(0.5)) op.over.push_back(d);
    }
    const DimId into(below(3));
    const std::vector<DimId> made = grouped_dims(walked, op.over, into);
    if (is_square(made) || module_.dim(into).size < most_keys) return;
    op.results = {value(made, some_cuts(made))};
    cut_alike(op);
    keep(std::move(op));
  }

  void cut_alike(const Op& op) {
    std::vector<AxisCut>& cuts = module_.value(op.results[0]).type.cuts;
    if (cuts.empty()) return;
    const Layout own(module_, op.operands[walked_operand(module_, op)]);
    const std::vector<std::ptrdiff_t> places = grouped_places(module_, op);
    MeshAxes left = 0;
    cuts.assign(cuts.size(), {});
    for (size_t axis = 0; axis < places.size(); ++axis) {
      if (places[axis] == no_axis) left |= own.cuts(axis);
      if (places[axis] != no_axis) cuts[static_cast<size_t>(places[axis])] = own.cut_of(axis);
    }
    const Dimension& keys = module_.dim(key_dim(module_, op));
    const bool blocks = left != 0 && !keys.is_workers() && chance(0.3);
    if (chance(0.5) && !keys.local) cuts[key_place(module_, op)] = {left, blocks ? 2 : 0};
  }

  // A slice, a concatenation, a reshape or a pick to a derived dimension that fits the operand, or from a product.
  // Tiles often keep their owners.
  void rearrange(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (is_square(from.dims)) return;
    op.dim = DimId(own_dims + below(static_cast<int>(module_.dims.size()) - own_dims));
    const Derivation derived = module_.dim(op.dim).derived;
    if (module_.dim(op.dim).is_workers()) return;
    op.over = derived.sources;
    op.code = derived.kind == Derivation::Kind::slice  ? OpCode::slice
              : derived.kind == Derivation::Kind::sum  ? OpCode::concat
              : derived.kind == Derivation::Kind::some ? OpCode::pick
                                                       : OpCode::reshape;
    if (derived.kind == Derivation::Kind::quotient) op.over = {op.over[1], std::exchange(op.dim, op.over[0])};
    if (op.code == OpCode::concat && contains(from.dims, op.dim) && !take_part(op)) return;
    if (op.code == OpCode::slice) displace_some(op);
    if (op.code == OpCode::concat && !add_parts(op)) return;
    if (op.code == OpCode::pick) op.operands.insert(op.operands.end(), {some_of(masks_), picked_});
    const auto dims = with_replaced(from.dims, worked_dims(module_, op, 0), made_dims(module_, op));
    if (!dims || is_square(*dims) || elements_of(*dims) > most_elements) return;
    std::vector<AxisCut> cuts(dims->size());
    for (size_t axis = 0; axis < from.cuts.size(); ++axis) {
      const auto to = std::find(dims->begin(), dims->end(), from.dims[axis]);
      if (to != dims->end()) cuts[static_cast<size_t>(to - dims->begin())] = from.cuts[axis];
    }
    const size_t first = made_axes(module_, op).first;
    if (keeps_owners(module_, op) && !from.cuts.empty() && !module_.dim((*dims)[first]).local && chance(0.8))
      cuts[first] = from.cuts[worked_axes(module_, op, 0).first];
    const bool moves = chance(0.3);
    if (moves) op.code = OpCode::relayout;
    op.results = {value(*dims, !moves && chance(0.8) ? usual(*dims, cuts) : some_cuts(*dims))};
    keep(std::move(op));
  }

  // A part of an array over a sum, instead of an array over a sum of it.
  bool take_part(Op& op) {
    const DimId whole = op.dim;
    const std::vector<DimId>& parts = module_.dim(whole).derived.sources;
    op.code = OpCode::slice;
    op.dim = parts[static_cast<size_t>(below(static_cast<int>(parts.size())))];
    op.over = {whole};
    return std::count(parts.begin(), parts.end(), op.dim) == 1;
  }

  // By a number of places that leaves all of the slice inside.
  void displace_some(Op& slice) {
    const SlicedIndices indices = sliced_by(module_, slice);
    if (indices.count == 0 || chance(0.5)) return;
    const std::int64_t last = indices.first + (indices.count - 1) * indices.step;
    const auto [least, greatest] = std::minmax(indices.first, last);
    const auto free = static_cast<int>(module_.dim(slice.over[0]).size - (greatest - least));
    displace(slice, below(free) - least);
  }

  // The other operands of a concatenation: values that fit the first.
  bool add_parts(Op& op) {
    const auto made = with_replaced(module_.type(op.operands[0]).dims, {op.over[0]}, {op.dim});
    for (size_t i = 1; made && i < op.over.size(); ++i) {
      std::vector<ValueId> fitting;
      for (const ValueId v : values_) {
        const std::vector<DimId>& dims = module_.type(v).dims;
        if (!is_square(dims) && with_replaced(dims, {op.over[i]}, {op.dim}) == made) fitting.push_back(v);
      }
      if (fitting.empty()) return false;
      op.operands.push_back(fitting[static_cast<size_t>(below(static_cast<int>(fitting.size())))]);
    }
    return made.has_value();
  }
};

}  // namespace kasen::testing
