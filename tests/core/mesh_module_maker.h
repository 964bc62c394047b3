// What random modules of arrays are made of: dimensions, functions, inputs, layouts, and operators that the state rules
// allow.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter.h"
#include "tests/core/mesh_run.h"

namespace kasen::testing {

class ModuleMaker {
 public:
  explicit ModuleMaker(std::uint64_t seed) : random_(seed) {
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

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] const std::map<int, int>& rules() const { return rules_; }  // how often each has allowed one
  [[nodiscard]] int groups() const { return groups_; }                      // reductions by keys
  [[nodiscard]] int ontos() const { return ontos_; }                        // contractions onto arrays
  [[nodiscard]] int rearranged() const { return rearranged_; }              // slices, concatenations, reshapes
  [[nodiscard]] int picks() const { return picks_; }
  [[nodiscard]] int repeated() const { return repeated_; }  // contractions that several workers compute alike
  [[nodiscard]] int kept() const { return kept_; }          // reshapes that keep owners
  [[nodiscard]] int moved() const { return moved_; }        // relayouts that make such
  [[nodiscard]] int carried() const { return carried_; }    // scans of cut lines
  [[nodiscard]] const std::map<std::string, MeshRun::Whole>& inputs() const { return inputs_; }

 protected:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }
  static Expr number(double x) { return make_literal(Scalar::f64, Word::real(x)); }
  static Expr make(ScalarOp op, const Expr& a, const Expr& b) { return make_op(op, {a, b}); }

  // A slice, a product, and sums, also of one dimension with itself; one of workers, its product, and that in parts.
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
    const DimId workers =
        module_.dims.push_back({"W", false, mesh_workers(module_), {Derivation::Kind::workers, {}, {}, {}, 1}});
    add("U", {Derivation::Kind::product, {workers, dim()}, {}, {}, 1});
    add("C", {Derivation::Kind::quotient, {module_.find_dim("U"), workers}, {}, {}, 1});
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

  // Some dimensions are cut in blocks.
  std::vector<AxisCut> some_cuts(const std::vector<DimId>& dims) {
    std::vector<AxisCut> cuts(dims.size());
    bool local = true;
    for (const DimId d : dims) local = local && module_.dim(d).local;
    if (local) return {};
    for (size_t a = 0; a < module_.mesh.size(); ++a) {
      const auto at = static_cast<size_t>(below(static_cast<int>(dims.size()) + 1));
      if (at < dims.size() && !module_.dim(dims[at]).local) cuts[at].axes |= MeshAxes{1} << a;
    }
    for (size_t at = 0; at < dims.size(); ++at) {
      if (!cuts[at].is_whole() && !module_.dim(dims[at]).is_workers() && chance(0.3)) cuts[at].block = 1 + below(3);
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

  ValueId value(std::vector<DimId> dims, std::vector<AxisCut> cuts) {
    Type type;
    type.element = ElementType::of(Scalar::f64);
    type.dims = std::move(dims);
    type.cuts = std::move(cuts);
    for (size_t axis = 0; axis < type.cuts.size(); ++axis) {
      if (module_.dim(type.dims[axis]).is_workers()) type.cuts[axis].block = 0;
    }
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

  // A mask, and the dimension of what it picks, whose size is known behind it.
  void mask() {
    Op made{.code = OpCode::input};
    const DimId source(below(own_dims));
    made.name = "mask";
    made.results = {value({source}, some_cuts({source}))};
    Type& type = module_.value(made.results[0]).type;
    type.element = ElementType::of(Scalar::boolean);
    type.state = Layout(module_, type).is_shared() ? State::cons() : State::part();
    MeshRun::Whole& whole = inputs_["mask"];
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < module_.dim(source).size; ++i) whole.push_back(below(2));
    for (const double one : whole) count += one != 0 ? 1 : 0;
    module_.dims.push_back({"Q", chance(0.3), count, {Derivation::Kind::some, {source}, {}, {}, 1}});
    masks_ = {made.results[0]};
    module_.body.ops.push_back(std::move(made));
    for (const OpCode code : {OpCode::literal, OpCode::observe}) {
      Op op{.code = code};
      if (code == OpCode::literal) op.literal = {Word::integer(count)};
      if (code == OpCode::observe) op.operands = {picked_};
      if (code == OpCode::observe) op.dim = DimId(static_cast<int>(module_.dims.size()) - 1);
      picked_ = value({}, {});
      module_.value(picked_).type.element = ElementType::of(Scalar::i64);
      module_.value(picked_).type.state = State::cons();
      op.results = {picked_};
      module_.body.ops.push_back(std::move(op));
    }
  }

  ValueId some_value() { return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))]; }

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
    picks_ += op.code == OpCode::pick ? 1 : 0;
    moved_ += rearranges_on_the_way(op) ? 1 : 0;
    carried_ += carried_axes(module_, op) != 0 ? 1 : 0;
    const auto cut = [&](size_t i) { return Layout(module_, op.operands[i]).all_cuts() != 0; };
    repeated_ += is_contraction(module_, op) && answer.results[0].is_cons() && cut(0) && cut(1) ? 1 : 0;
    const bool keeps = op.code == OpCode::reshape && keeps_owners(module_, op);
    kept_ += keeps && Layout(module_, op.results[0]).cuts(made_axes(module_, op).first) != 0 ? 1 : 0;
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

  // Local dimensions alone have no cuts of their own.
  std::vector<AxisCut> usual(const std::vector<DimId>& dims, std::vector<AxisCut> cuts) {
    const bool local = std::all_of(dims.begin(), dims.end(), [&](DimId d) { return module_.dim(d).local; });
    return local ? std::vector<AxisCut>{} : cuts;
  }

  void relayout(Op op) {
    const Type from = module_.type(op.operands[0]);
    op.code = OpCode::relayout;
    op.results = {value(from.dims, some_cuts(from.dims))};
    module_.value(op.results[0]).type.element = from.element;
    keep(std::move(op));
  }

  static constexpr int own_dims = 3;  // those before the derived ones
  static constexpr std::int64_t most_elements = 600;

  std::mt19937_64 random_;
  Module module_;
  FnId twice_, less_, add_, mul_, most_;
  std::map<std::string, MeshRun::Whole> inputs_;
  std::vector<ValueId> values_, keys_, masks_, outputs_;
  ValueId picked_ = no_value;  // the size of what a mask picks
  int repeated_ = 0, made_ = 0, ontos_ = 0, groups_ = 0, rearranged_ = 0, moved_ = 0, picks_ = 0, carried_ = 0,
      kept_ = 0;
  std::map<int, int> rules_;
};

}  // namespace kasen::testing
