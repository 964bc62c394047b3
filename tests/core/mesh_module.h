// Random modules of arrays of rank 0 to 3, of all layouts, on meshes of up to three axes, that the state rules allow.
#pragma once

#include "tests/core/mesh_module_axis.h"

namespace kasen::testing {

class RandomModule : public AxisOperators {
 public:
  using AxisOperators::AxisOperators;

  // `picks`: with a dimension whose size a run finds.
  void make_program(bool picks = true) {
    for (int i = 0; i < 3; ++i) input(i);
    for (int i = 3; i < 5; ++i) keys(i);
    if (picks) mask();
    for (int tries = 0; tries < 60 && made_ < 15; ++tries) attempt();
    finish();
  }

 private:
  void attempt() {
    Op op;
    op.operands = {some_value()};
    switch (below(16)) {
      case 14:
      case 15:
        return group(std::move(op));
      case 0:
      case 1:
        return transition(std::move(op));
      case 2:
      case 3:
        return map(std::move(op));
      case 4:
      case 5:
        return reduce(std::move(op));
      case 6:
        return transpose(std::move(op));
      case 7:
        return relayout(std::move(op));
      case 8:
      case 9:
        return contract(std::move(op));
      case 10:
        return along(std::move(op));
      case 11:
      case 12:
        return rearrange(std::move(op));
      default:
        return product(std::move(op));
    }
  }

  // A value to go with this one: of a pre-reduced one often what it is gathered to, as it is or where it is held.
  ValueId beside(ValueId v) {
    const Type type = module_.type(v);
    if (!type.state.is_pre() || chance(0.4)) return some_value();
    for (const bool gathers : {true, false}) {
      Op op;
      op.code = gathers ? OpCode::gather : OpCode::scatter;
      op.operands = {gathers ? v : values_.back()};
      op.results = {value(type.dims, type.cuts)};
      if (!gathers) module_.value(op.results[0]).type.state = State::cons(type.state.slaves);
      keep(std::move(op));
      if (chance(0.4)) break;
    }
    return values_.back();
  }

  void map(Op op) {
    const bool two = chance(0.7);
    if (two) op.operands.push_back(beside(op.operands[0]));
    std::vector<DimId> dims;
    for (const DimId d : module_.dims.ids()) {
      for (const ValueId v : op.operands) {
        if (contains(module_.type(v).dims, d) && !contains(dims, d)) dims.push_back(d);
      }
    }
    for (const ValueId v : op.operands) {  // in the dimensions' order: transposed and square ones are left out
      const std::vector<DimId>& own = module_.type(v).dims;
      if (!std::is_sorted(own.begin(), own.end()) || is_square(own)) return;
    }
    op.code = dims.empty() ? OpCode::apply : OpCode::map;
    const FnId binary[] = {add_, mul_, most_};
    op.fns = {two ? binary[below(3)] : chance(0.5) ? twice_ : less_};
    std::vector<AxisCut> cuts = some_cuts(dims);
    const ValueId like = op.operands[static_cast<size_t>(below(static_cast<int>(op.operands.size())))];
    if (chance(0.7) && module_.type(like).dims == dims) cuts = module_.type(like).cuts;
    op.results = {value(dims, cuts)};
    keep(std::move(op));
  }

  void reduce(Op op) {
    const Type& from = module_.type(op.operands[0]);
    if (from.dims.empty()) return;
    op.code = OpCode::reduce;
    op.fns = {from.state.is_pre() && chance(0.9) ? from.state.reducer : chance(0.7) ? add_ : most_};
    const Layout own(module_, from);
    MeshAxes left = 0;
    std::vector<DimId> dims;
    std::vector<AxisCut> cuts;
    for (size_t axis = 0; axis < from.dims.size(); ++axis) {
      if (chance(0.5)) {
        op.over.push_back(from.dims[axis]);
        left |= own.cuts(axis);
      } else {
        dims.push_back(from.dims[axis]);
        cuts.push_back(own.cut_of(axis));
      }
    }
    if (op.over.empty() || (!dims.empty() && is_square(from.dims))) return;
    if (dims.empty()) op.over.clear();
    spread(dims, cuts, left);
    op.results = {value(dims, usual(dims, cuts))};
    keep(std::move(op));
  }

  // Some axes of the mesh that cut reduced dimensions cut what is left, where they come after what cuts it already.
  void spread(const std::vector<DimId>& dims, std::vector<AxisCut>& cuts, MeshAxes left) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (module_.dim(dims[axis]).local || !chance(0.5)) continue;
      AxisCut with{cuts[axis].axes | left, cuts[axis].block};
      if (cuts[axis].is_whole() && left != 0 && !module_.dim(dims[axis]).is_workers() && chance(0.2)) with.block = 2;
      if (axes_cut_alike(cuts[axis], with) != cuts[axis].axes) continue;
      cuts[axis] = with;
      left = 0;
    }
  }

  void transpose(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (from.dims.size() != 2) return;
    op.code = OpCode::transpose;
    std::vector<AxisCut> cuts(from.cuts.rbegin(), from.cuts.rend());
    op.results = {value({from.dims[1], from.dims[0]}, cuts)};
    keep(std::move(op));
  }

  void product(Op op) {
    const ValueId matrix = some_value();
    const Type& m = module_.type(matrix);
    const Type& v = module_.type(op.operands[0]);
    if (m.dims.size() != 2 || v.dims.empty()) return;
    const bool transposed = v.dims[0] == m.dims[1];
    if (!transposed && v.dims[0] != m.dims[0]) return;
    op.code = transposed ? OpCode::mxvt : OpCode::mxv;
    op.fns = {mul_, add_};
    std::vector<DimId> dims = v.dims;
    dims[0] = m.dims[transposed ? 0 : 1];
    if (std::count(dims.begin(), dims.end(), dims[0]) > 1) return;
    op.operands.push_back(matrix);
    std::vector<AxisCut> cuts = some_cuts(dims);
    if (chance(0.6)) {
      const Layout own(module_, m), columns(module_, v);
      cuts.assign(1, own.cut_of(transposed ? 0 : 1));
      MeshAxes taken = cuts[0].axes;
      for (size_t axis = 1; axis < dims.size(); ++axis) {
        cuts.push_back(cut_over(columns.cut_of(axis), ~taken));
        taken |= cuts.back().axes;
      }
      cuts = usual(dims, cuts);
    }
    op.results = {value(dims, cuts)};
    keep(std::move(op));
  }

  // Random labels: two of each dimension, so that diagonals and transpositions are among them.
  void contract(Op op) {
    op.code = OpCode::contract;
    op.operands.push_back(some_value());
    for (const ValueId v : op.operands) {
      const auto is_derived = [&](DimId d) { return d >= own_dims; };
      if (std::any_of(module_.type(v).dims.begin(), module_.type(v).dims.end(), is_derived)) return;
    }
    constexpr const char* letters[] = {"ij", "kl", "mn"};
    const auto label_of = [&](DimId d) { return letters[d][below(2)]; };
    Labels labels;
    std::map<char, AxisCut> cut;
    for (const ValueId v : op.operands) {
      std::string& own = labels.operands.emplace_back();
      for (size_t axis = 0; axis < module_.type(v).dims.size(); ++axis) {
        own += label_of(module_.type(v).dims[axis]);
        AxisCut& of_label = cut[own.back()];
        if (of_label.is_whole() || chance(0.3)) of_label.block = Layout(module_, v).cut_of(axis).block;
        of_label.axes |= Layout(module_, v).cuts(axis);
      }
    }
    std::string all;
    for (const auto& [label, axes] : cut) all += label;
    if (all.size() > 4) return;
    std::shuffle(all.begin(), all.end(), random_);
    for (const char label : all) {
      if (labels.result.size() < 3 && chance(0.6)) labels.result += label;
    }
    if (chance(0.1)) {  // a label that no operand has: the elements are repeated along it
      const char repeated = label_of(DimId(below(3)));
      if (!cut.contains(repeated)) labels.result += repeated;
    }
    std::vector<DimId> dims;
    for (const char label : labels.result) dims.push_back(DimId(label < 'k' ? 0 : label < 'm' ? 1 : 2));
    std::vector<AxisCut> cuts = some_cuts(dims);
    if (chance(0.7)) {
      cuts.clear();
      MeshAxes taken = 0;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        cuts.push_back(module_.dim(dims[axis]).local ? AxisCut() : cut_over(cut[labels.result[axis]], ~taken));
        taken |= cuts.back().axes;
      }
      cuts = usual(dims, cuts);
    }
    op.name = labels_text(labels);
    const FnId times[] = {add_, mul_, most_};
    op.fns = {times[below(3)]};
    if (!labels.summed().empty()) op.fns.push_back(chance(0.7) ? add_ : most_);
    op.results = {value(dims, cuts)};
    keep(op);
    if (!labels.summed().empty() && chance(0.6)) onto(std::move(op));
  }

  // The same contraction onto an array of its result's dimensions: often what it has just made.
  void onto(Op op) {
    const Type made = module_.type(op.results[0]);
    std::vector<ValueId> alike;
    for (const ValueId v : values_) {
      if (module_.type(v).dims == made.dims) alike.push_back(v);
    }
    if (alike.empty()) return;
    op.operands.push_back(chance(0.5) ? alike.back()
                                      : alike[static_cast<size_t>(below(static_cast<int>(alike.size())))]);
    op.results = {value(made.dims, chance(0.8) ? module_.type(op.operands[2]).cuts : made.cuts)};
    const int before = made_;
    keep(std::move(op));
    ontos_ += made_ - before;
  }

  // All values are outputs; pre-reduced ones are gathered first. Values of operators that were refused go.
  void finish() {
    const std::vector<ValueId> made = values_;
    for (ValueId v : made) {
      if (module_.type(v).state.is_pre()) {
        Op gather;
        gather.code = OpCode::gather;
        gather.operands = {v};
        const Type type = module_.type(v);
        gather.results = {value(type.dims, type.cuts)};
        v = gather.results[0];
        module_.value(v).type.state = State::part();
        module_.body.ops.push_back(std::move(gather));
      }
      outputs_.push_back(v);
    }
    for (const ValueId v : outputs_) {
      Op output;
      output.code = OpCode::output;
      output.name = module_.value(v).name;
      output.operands = {v};
      module_.body.ops.push_back(std::move(output));
    }
    for (Value& v : module_.values) {
      if (!v.type.state.placed()) v.type.state = State::part();
    }
  }
};

inline WholeInputs whole_of(const RandomModule& random) {
  WholeInputs whole;
  for (const auto& [name, numbers] : random.inputs()) {
    const Scalar scalar = name[0] == 'k' ? Scalar::i64 : name == "mask" ? Scalar::boolean : Scalar::f64;
    Array array(ElementType::of(scalar), static_cast<std::int64_t>(numbers.size()));
    if (scalar == Scalar::i64) std::copy(numbers.begin(), numbers.end(), array.as<std::int64_t>());
    if (scalar == Scalar::boolean) std::copy(numbers.begin(), numbers.end(), array.as<std::uint8_t>());
    if (scalar == Scalar::f64) std::copy(numbers.begin(), numbers.end(), array.as<double>());
    whole.arrays.emplace(name, std::move(array));
  }
  return whole;
}

}  // namespace kasen::testing
