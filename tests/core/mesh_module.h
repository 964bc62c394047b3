// Random modules of arrays of rank 0 to 3, of all layouts, on meshes of up to three axes, that the state rules allow.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter.h"
#include "tests/core/mesh_run.h"

namespace kasen::testing {

class RandomModule {
 public:
  explicit RandomModule(std::uint64_t seed) : random_(seed) {
    module_.level = 2;
    module_.name = "random";
    constexpr const char* axes[] = {"a", "b", "c"};
    const int rank = 1 + below(3);
    for (int a = 0; a < rank; ++a) module_.mesh.push_back({axes[a], 1 + below(rank == 1 ? 5 : 3)});
    constexpr std::int64_t sizes[] = {0, 1, 2, 3, 4, 5, 7};
    for (const char* name : {"N", "K", "M"}) module_.dims.push_back({name, chance(0.15), sizes[below(7)]});
    derive_dims();
    twice_ = function(
        "twice", [](const Expr& x, const Expr&) { return make(ScalarOp::mul, x, number(2)); }, 1);
    less_ = function(
        "less", [](const Expr& x, const Expr&) { return make(ScalarOp::sub, x, number(3)); }, 1);
    add_ = function(
        "add", [](const Expr& x, const Expr& y) { return make(ScalarOp::add, x, y); }, 2);
    mul_ = function(
        "mul", [](const Expr& x, const Expr& y) { return make(ScalarOp::mul, x, y); }, 2);
    most_ = function(
        "most", [](const Expr& x, const Expr& y) { return make(ScalarOp::max, x, y); }, 2);
  }

  void make_program() {
    for (int i = 0; i < 3; ++i) input(i);
    for (int i = 3; i < 5; ++i) keys(i);
    for (int tries = 0; tries < 60 && made_ < 15; ++tries) attempt();
    finish();
  }

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] const std::map<int, int>& rules() const { return rules_; }  // how often each has allowed one
  [[nodiscard]] int groups() const { return groups_; }                      // reductions by keys
  [[nodiscard]] int ontos() const { return ontos_; }                        // contractions onto arrays
  [[nodiscard]] int rearranged() const { return rearranged_; }              // slices, concatenations, reshapes
  [[nodiscard]] int moved() const { return moved_; }                        // relayouts that make such
  [[nodiscard]] const std::map<std::string, MeshRun::Whole>& inputs() const { return inputs_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }
  static Expr number(double x) { return make_literal(Scalar::f64, Word::real(x)); }
  static Expr make(ScalarOp op, const Expr& a, const Expr& b) { return make_op(op, {a, b}); }

  // A slice, a product, and sums, also of one dimension with itself.
  void derive_dims() {
    const auto dim = [&] { return DimId(below(own_dims)); };
    const auto bound = [&] { return chance(0.4) ? std::nullopt : std::optional<std::int64_t>(below(17) - 8); };
    const auto add = [&](const char* name, Derivation derived) {
      const std::int64_t size = derived_size(derived, [&](DimId d) { return module_.dim(d).size; });
      module_.dims.push_back({name, chance(0.3), size, std::move(derived)});
    };
    constexpr std::int64_t steps[] = {1, 1, 2, 3, -1, -2};
    add("E", {Derivation::Kind::slice, {dim()}, bound(), bound(), steps[below(6)]});
    add("B", {Derivation::Kind::slice, {dim()}, bound(), bound(), steps[below(6)]});
    add("P", {Derivation::Kind::product, {DimId(0), DimId(1)}, {}, {}, 1});
    add("S", {Derivation::Kind::sum, {dim(), dim()}, {}, {}, 1});
    add("T", {Derivation::Kind::sum, {dim(), dim(), dim()}, {}, {}, 1});
  }

  std::int64_t elements_of(const std::vector<DimId>& dims) const {
    std::int64_t count = 1;
    for (const DimId d : dims) count *= module_.dim(d).size;
    return count;
  }

  template <class Body>
  FnId function(const char* name, const Body& body, int params) {
    ScalarFunction fn;
    fn.name = name;
    const ElementType f64 = ElementType::of(Scalar::f64);
    for (int i = 0; i < params; ++i) fn.params.push_back({i == 0 ? "x" : "y", f64, {}});
    fn.body = body(make_param(0, f64), make_param(params - 1, f64));
    return module_.functions.push_back(std::move(fn));
  }

  static bool is_square(std::vector<DimId> dims) {
    std::sort(dims.begin(), dims.end());
    return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
  }

  std::vector<MeshAxes> some_cuts(const std::vector<DimId>& dims) {
    std::vector<MeshAxes> cuts(dims.size(), 0);
    bool local = true;
    for (const DimId d : dims) local = local && module_.dim(d).local;
    if (local) return {};
    for (size_t a = 0; a < module_.mesh.size(); ++a) {
      const auto at = static_cast<size_t>(below(static_cast<int>(dims.size()) + 1));
      if (at < dims.size() && !module_.dim(dims[at]).local) cuts[at] |= MeshAxes{1} << a;
    }
    return cuts;
  }

  std::vector<DimId> some_dims() {
    std::vector<DimId> dims;
    for (const DimId d : module_.dims.ids()) {
      if (chance(d < own_dims ? 0.55 : 0.1) && elements_of(dims) * module_.dim(d).size <= most_elements)
        dims.push_back(d);
    }
    return dims;
  }

  static constexpr std::int64_t most_keys = 3;

  ValueId value(std::vector<DimId> dims, std::vector<MeshAxes> cuts) {
    Type type;
    type.element = ElementType::of(Scalar::f64);
    type.dims = std::move(dims);
    type.cuts = std::move(cuts);
    return module_.add_value("v", type);
  }

  void input(int number) {
    Op op;
    op.code = OpCode::input;
    op.name = std::string("x") + std::to_string(number);
    std::vector<DimId> dims;
    while (dims.empty()) dims = some_dims();
    op.results = {value(dims, some_cuts(dims))};
    Type& type = module_.value(op.results[0]).type;
    type.state = Layout(module_, type).is_shared() ? State::cons() : State::part();
    std::size_t count = 1;
    for (const DimId d : dims) count *= static_cast<std::size_t>(module_.dim(d).size);
    MeshRun::Whole& whole = inputs_[op.name];
    for (std::size_t i = 0; i < count; ++i) whole.push_back(below(9) - 4);
    add(std::move(op));
  }

  void keys(int number) {
    input(number);
    keys_.push_back(values_.back());
    values_.pop_back();
    Op& op = module_.body.ops.back();
    MeshRun::Whole whole = std::move(inputs_.at(op.name));
    op.name = std::string("k") + std::to_string(number);
    for (double& key : whole) key = below(static_cast<int>(most_keys));
    module_.value(keys_.back()).type.element = ElementType::of(Scalar::i64);
    inputs_[op.name] = std::move(whole);
  }

  ValueId some_value() { return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))]; }

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

  // Keeps the operator if the rules allow it, with the state that they give, or P where they give C.
  void keep(Op op) {
    TrialLawChecker laws;
    const RuleAnswer answer = apply_rule(module_, op, laws);
    if (!answer.allowed) return;
    State& state = module_.value(op.results[0]).type.state;
    state = answer.results[0];
    if (state.is_cons() && chance(0.2) && op.code != OpCode::scatter) state = State::part();
    if (answer.law && std::find(module_.laws.begin(), module_.laws.end(), *answer.law) == module_.laws.end())
      module_.laws.push_back(*answer.law);
    ++made_;
    ++rules_[answer.rule];
    groups_ += op.code == OpCode::reduce_by ? 1 : 0;
    rearranged_ += is_rearrangement(op) ? 1 : 0;
    moved_ += rearranges_on_the_way(op) ? 1 : 0;
    add(std::move(op));
  }

  void add(Op op) {
    values_.push_back(op.results[0]);
    module_.body.ops.push_back(std::move(op));
  }

  void transition(Op op) {
    const Type type = module_.type(op.operands[0]);
    op.code = type.state.is_pre() ? OpCode::gather : OpCode::scatter;
    op.results = {value(type.dims, type.cuts)};
    module_.value(op.results[0]).type.element = type.element;
    if (op.code == OpCode::scatter) {
      Type& made = module_.value(op.results[0]).type;
      const MeshAxes axes = static_cast<MeshAxes>(below(1 << module_.mesh.size()));
      const bool shared = Layout(module_, made).is_shared();
      made.state = State::cons(shared && axes == 0 ? SlaveSet{} : set_of_mesh_axes(module_, axes));
      if (shared && is_all(made.state.slaves)) made.state.slaves.clear();
    }
    keep(std::move(op));
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
    std::vector<MeshAxes> cuts = some_cuts(dims);
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
    std::vector<MeshAxes> cuts;
    for (size_t axis = 0; axis < from.dims.size(); ++axis) {
      if (chance(0.5)) {
        op.over.push_back(from.dims[axis]);
        left |= own.cuts(axis);
      } else {
        dims.push_back(from.dims[axis]);
        cuts.push_back(own.cuts(axis));
      }
    }
    if (op.over.empty() || (!dims.empty() && is_square(from.dims))) return;
    if (dims.empty()) op.over.clear();
    spread(dims, cuts, left);
    op.results = {value(dims, usual(dims, cuts))};
    keep(std::move(op));
  }

  // Some axes of the mesh that cut reduced dimensions cut what is left, where they come after what cuts it already.
  void spread(const std::vector<DimId>& dims, std::vector<MeshAxes>& cuts, MeshAxes left) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (module_.dim(dims[axis]).local || !chance(0.5)) continue;
      const MeshAxes with = cuts[axis] | left;
      if (axes_cut_alike(cuts[axis], with) != cuts[axis]) continue;
      cuts[axis] = with;
      left = 0;
    }
  }

  // Local dimensions alone have no cuts of their own.
  std::vector<MeshAxes> usual(const std::vector<DimId>& dims, std::vector<MeshAxes> cuts) {
    const bool local = std::all_of(dims.begin(), dims.end(), [&](DimId d) { return module_.dim(d).local; });
    return local ? std::vector<MeshAxes>{} : cuts;
  }

  void transpose(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (from.dims.size() != 2) return;
    op.code = OpCode::transpose;
    std::vector<MeshAxes> cuts(from.cuts.rbegin(), from.cuts.rend());
    op.results = {value({from.dims[1], from.dims[0]}, cuts)};
    keep(std::move(op));
  }

  void relayout(Op op) {
    const Type from = module_.type(op.operands[0]);
    op.code = OpCode::relayout;
    op.results = {value(from.dims, some_cuts(from.dims))};
    module_.value(op.results[0]).type.element = from.element;
    keep(std::move(op));
  }

  // A scan or a sort, which would bring infinities of empty reductions to other places. Most results are cut as their
  // operand is, but along the lines.
  void along(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (from.dims.empty() || is_square(from.dims)) return;
    const bool any_empty =
        std::any_of(module_.dims.begin(), module_.dims.end(), [](const Dimension& d) { return d.size == 0; });
    op.code = any_empty || chance(0.6) ? OpCode::scan : OpCode::sort;
    if (op.code == OpCode::scan) op.fns = {chance(0.7) ? add_ : most_};
    const auto axis = static_cast<size_t>(below(static_cast<int>(from.dims.size())));
    op.over = {from.dims[axis]};
    std::vector<MeshAxes> cuts = chance(0.8) ? from.cuts : some_cuts(from.dims);
    if (!cuts.empty() && chance(0.9)) cuts[axis] = 0;
    op.results = {value(from.dims, std::move(cuts))};
    keep(std::move(op));
  }

  // Keys as they are, or elsewhere.
  ValueId some_keys() {
    Op op;
    op.operands = {keys_[static_cast<size_t>(below(static_cast<int>(keys_.size())))]};
    const size_t before = values_.size();
    if (chance(0.5)) transition(op);
    if (values_.size() == before && chance(0.3)) relayout(op);
    if (values_.size() == before) return op.operands[0];
    keys_.push_back(values_.back());
    values_.pop_back();
    return keys_.back();
  }

  // A reduction by keys, cut like its array and along the keys over axes that are reduced.
  void group(Op op) {
    const std::vector<DimId> dims = module_.type(op.operands[0]).dims;
    op.operands.push_back(some_keys());
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
    std::vector<MeshAxes>& cuts = module_.value(op.results[0]).type.cuts;
    if (cuts.empty()) return;
    const Layout own(module_, op.operands[walked_operand(module_, op)]);
    const std::vector<std::ptrdiff_t> places = grouped_places(module_, op);
    MeshAxes left = 0;
    cuts.assign(cuts.size(), 0);
    for (size_t axis = 0; axis < places.size(); ++axis) {
      if (places[axis] == no_axis) left |= own.cuts(axis);
      if (places[axis] != no_axis) cuts[static_cast<size_t>(places[axis])] = own.cuts(axis);
    }
    if (chance(0.5) && !module_.dim(key_dim(module_, op)).local) cuts[key_place(module_, op)] = left;
  }

  // A slice, a concatenation or a reshape to a derived dimension that fits the operand, or from a product.
  void rearrange(Op op) {
    const Type from = module_.type(op.operands[0]);
    if (is_square(from.dims)) return;
    op.dim = DimId(own_dims + below(static_cast<int>(module_.dims.size()) - own_dims));
    const Derivation& derived = module_.dim(op.dim).derived;
    op.over = derived.sources;
    op.code = derived.kind == Derivation::Kind::slice     ? OpCode::slice
              : derived.kind == Derivation::Kind::product ? OpCode::reshape
                                                          : OpCode::concat;
    if (op.code == OpCode::concat && contains(from.dims, op.dim) && !take_part(op)) return;
    if (op.code == OpCode::slice) displace_some(op);
    if (op.code == OpCode::concat && !add_parts(op)) return;
    const auto dims = with_replaced(from.dims, worked_dims(module_, op, 0), made_dims(module_, op));
    if (!dims || is_square(*dims) || elements_of(*dims) > most_elements) return;
    std::vector<MeshAxes> cuts(dims->size(), 0);
    for (size_t axis = 0; axis < from.cuts.size(); ++axis) {
      const auto to = std::find(dims->begin(), dims->end(), from.dims[axis]);
      if (to != dims->end()) cuts[static_cast<size_t>(to - dims->begin())] = from.cuts[axis];
    }
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
    std::vector<MeshAxes> cuts = some_cuts(dims);
    if (chance(0.6)) {
      const Layout own(module_, m), columns(module_, v);
      cuts.assign(1, own.cuts(transposed ? 0 : 1));
      MeshAxes taken = cuts[0];
      for (size_t axis = 1; axis < dims.size(); ++axis) {
        cuts.push_back(columns.cuts(axis) & ~taken);
        taken |= cuts.back();
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
    std::map<char, MeshAxes> cut;
    for (const ValueId v : op.operands) {
      std::string& own = labels.operands.emplace_back();
      for (size_t axis = 0; axis < module_.type(v).dims.size(); ++axis) {
        own += label_of(module_.type(v).dims[axis]);
        cut[own.back()] |= Layout(module_, v).cuts(axis);
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
    std::vector<MeshAxes> cuts = some_cuts(dims);
    if (chance(0.7)) {
      cuts.clear();
      MeshAxes taken = 0;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        cuts.push_back(module_.dim(dims[axis]).local ? 0 : cut[labels.result[axis]] & ~taken);
        taken |= cuts.back();
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

  static constexpr int own_dims = 3;  // those before the derived ones
  static constexpr std::int64_t most_elements = 600;

  std::mt19937_64 random_;
  Module module_;
  FnId twice_, less_, add_, mul_, most_;
  std::map<std::string, MeshRun::Whole> inputs_;
  std::vector<ValueId> values_, keys_, outputs_;
  int made_ = 0, ontos_ = 0, groups_ = 0, rearranged_ = 0, moved_ = 0;
  std::map<int, int> rules_;
};

inline WholeInputs whole_of(const RandomModule& random) {
  WholeInputs whole;
  for (const auto& [name, numbers] : random.inputs()) {
    const bool keys = name[0] == 'k';
    Array array(ElementType::of(keys ? Scalar::i64 : Scalar::f64), static_cast<std::int64_t>(numbers.size()));
    if (keys) std::copy(numbers.begin(), numbers.end(), array.as<std::int64_t>());
    if (!keys) std::copy(numbers.begin(), numbers.end(), array.as<double>());
    whole.arrays.emplace(name, std::move(array));
  }
  return whole;
}

}  // namespace kasen::testing
