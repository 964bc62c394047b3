#include "libopt/sync/box_placer.h"

#include <algorithm>

#include "libcore/analysis/map_laws.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {

BoxPlacer::BoxPlacer(Module& module, LawChecker& laws, const Polynomial::Bindings& sizes, Asked asked)
    : m_(module), laws_(laws), sizes_(sizes), asked_(std::move(asked)) {}

void BoxPlacer::run() {
  const Block body = std::move(m_.body);
  frames_.emplace_back();
  const auto outputs =
      std::find_if(body.ops.begin(), body.ops.end(), [](const Op& op) { return op.code == OpCode::output; });
  for (auto op = body.ops.begin(); op != outputs; ++op) place(*op);
  for (auto op = outputs; op != body.ops.end(); ++op) bring_output(*op);
  for (auto op = outputs; op != body.ops.end(); ++op) place(*op);
  m_.body = {body.args, std::move(frames_.back().ops)};
  m_.level = 2;
}

void BoxPlacer::place_block(const Block& block) {
  for (const Op& op : block.ops) {
    if (op.code != OpCode::yield) place(op);
  }
}

void BoxPlacer::place(const Op& op) {
  where_ = op.where;
  switch (row(op.code).group) {
    case OpGroup::source:
      return source(op);
    case OpGroup::vector:
      if (op.code == OpCode::reduce) return reduce(op);
      return is_view(op) ? view(op) : vector(op);
    case OpGroup::shared:
      return vector(op);
    case OpGroup::linear: {
      Op placed = op;
      for (ValueId& v : placed.operands) v = now(v);
      return emit(std::move(placed));
    }
    case OpGroup::product:
    case OpGroup::contraction:
      return contraction(op);
    case OpGroup::list:
      return list(op);
    case OpGroup::control:
      return op.code == OpCode::if_else ? branch(op) : loop(op);
    case OpGroup::end: {
      Op placed = op;
      placed.operands.at(0) = now(op.operands[0]);
      return append(std::move(placed), frames_.size() - 1);
    }
    default:
      throw InternalError("an operator that no mesh takes");
  }
}

// The outputs are the last operators.
void BoxPlacer::bring_output(const Op& output) {
  where_ = output.where;
  const ValueId value = output.operands.at(0);
  const auto asked = asked_.find(value);
  if (asked == asked_.end()) return;
  const ValueId brought = with_cuts(now(value), asked->second);
  now_.resize(m_.values.size(), no_value);
  now_[value] = brought;
}

// ---- layouts

std::vector<MeshAxes> BoxPlacer::usual_cuts(const std::vector<DimId>& dims) const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!m_.dim(dims[i]).local) free.push_back(i);
  }
  if (free.empty()) return {};
  std::vector<MeshAxes> cuts(dims.size(), 0);
  for (std::size_t axis = 0; axis < mesh_rank(m_); ++axis) {
    cuts[free[std::min(axis, free.size() - 1)]] |= MeshAxes{1} << axis;
  }
  return cuts;
}

std::vector<MeshAxes> BoxPlacer::cuts_of(ValueId value) const {
  const auto asked = asked_.find(value);
  return asked == asked_.end() ? usual_cuts(m_.type(value).dims) : asked->second;
}

std::vector<MeshAxes> BoxPlacer::cuts_behind(const Op& op) const {
  const Type& from = m_.type(op.operands[0]);
  const Layout own(m_, from);
  MeshAxes left = own.all_cuts();
  std::vector<MeshAxes> cuts;
  std::vector<DimId> dims;
  for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
    if (op.over.empty() || contains(op.over, from.dims[axis])) continue;
    cuts.push_back(own.cuts(axis));
    dims.push_back(from.dims[axis]);
    left &= ~own.cuts(axis);
  }
  for (std::size_t axis = 0; axis < cuts.size() && left != 0; ++axis) {
    const MeshAxes both = cuts[axis] | left;
    if (m_.dim(dims[axis]).local || axes_cut_alike(cuts[axis], both) != cuts[axis]) continue;
    cuts[axis] = both;
    left = 0;
  }
  return cuts;
}

// Local dimensions alone have no cuts of their own.
void BoxPlacer::set_cuts(ValueId value, std::vector<MeshAxes> cuts) {
  Type& type = m_.value(value).type;
  const bool local = std::all_of(type.dims.begin(), type.dims.end(), [&](DimId d) { return m_.dim(d).local; });
  type.cuts = local ? std::vector<MeshAxes>() : std::move(cuts);
}

// ---- operands

ValueId BoxPlacer::version(ValueId value, OpCode code, const Type& type, const char* suffix) {
  const auto key = std::tuple(value, type.cuts, held_axes(m_, type, type.state));
  if (const auto it = versions_.find(key); it != versions_.end()) return it->second;
  const std::size_t depth = depth_[value];
  const ValueId made = m_.add_value(m_.value(value).name + suffix, type);
  Op op;
  op.code = code;
  op.where = where_;
  op.operands = {value};
  op.results = {made};
  append(std::move(op), depth);
  depth_.resize(m_.values.size(), 0);
  depth_[made] = depth;
  return versions_[key] = made;
}

ValueId BoxPlacer::with_cuts(ValueId value, const std::vector<MeshAxes>& cuts) {
  Type type = m_.type(value);
  if (type.cuts == cuts) return value;
  type.cuts = cuts;
  type.state = State::part();
  const ValueId moved = version(value, OpCode::relayout, type, "_r");
  if (Layout(m_, type).is_distributed()) return moved;
  type.state = State::cons();  // a shared is for all workers
  return version(moved, OpCode::scatter, type, "_s");
}

ValueId BoxPlacer::held_along(ValueId value, MeshAxes axes) {
  Type type = m_.type(value);
  if (axes == 0 || (axes & ~held_axes(m_, type, type.state)) == 0) return value;
  type.state = State::cons(held_set(m_, type, axes));
  return version(value, OpCode::scatter, type, "_s");
}

// Either it is held along all axes that cut the operator otherwise, or it is first cut as the operator is.
ValueId BoxPlacer::read_along(const Op& op, std::size_t operand) {
  const ValueId value = op.operands[operand];
  const Type& result = m_.type(op.results.at(0));
  const Layout own(m_, value), along(m_, result);
  if (own.is_shared()) return value;
  const std::vector<State> states(op.operands.size(), State::part());
  const auto workers = [&](MeshAxes axes) { return sizes_.workers_along(m_, axes); };
  const MeshAxes as_it_is = needed_axes(m_, op, operand, states);
  std::vector<MeshAxes> cuts;
  for (const std::ptrdiff_t axis : met_axes(result.dims, m_.type(value).dims)) {
    cuts.push_back(along.cuts(static_cast<std::size_t>(axis)));
  }
  MeshAxes cut = 0;
  for (const MeshAxes axes : cuts) cut |= axes;
  const MeshAxes elsewhere = along.all_cuts() & ~cut;  // of the operator's other dimensions
  const bool whole = cut == 0;                         // it would lie on one worker
  if (whole || workers(as_it_is) - 1 <= workers(elsewhere)) return held_along(value, as_it_is);
  return held_along(with_cuts(value, cuts), elsewhere);
}

// ---- operators

void BoxPlacer::emit(Op op) {
  const std::size_t depth = frames_.size() - 1;
  depth_.resize(m_.values.size(), 0);
  const RuleAnswer answer = apply_rule(m_, op, laws_);
  if (!answer.allowed) throw InternalError("placing over a mesh: " + answer.why);
  const std::vector<ValueId> results = op.results;
  for (std::size_t i = 0; i < results.size(); ++i) m_.value(results[i]).type.state = answer.results.at(i);
  append(std::move(op), depth);
  for (const ValueId made : results) {
    depth_[made] = depth;
    settle(made);
  }
}

// Contributions go to their owners, and a shared to all workers.
void BoxPlacer::settle(ValueId made) {
  ValueId last = made;
  now_.resize(m_.values.size(), no_value);
  if (m_.type(last).state.is_pre()) {
    Type type = m_.type(last);
    type.state = State::part();
    last = version(last, OpCode::gather, type, "_g");
  }
  const bool everywhere = held_axes(m_, m_.type(last), m_.type(last).state) == all_mesh_axes(m_);
  if (Layout(m_, last).is_shared() && !everywhere) {
    Type type = m_.type(last);
    type.state = State::cons();
    last = version(last, OpCode::scatter, type, "_s");
  }
  now_.resize(m_.values.size(), no_value);
  now_[made] = last;
}

void BoxPlacer::source(const Op& op) {
  const ValueId made = op.results.at(0);
  set_cuts(made, cuts_of(made));
  emit(op);
}

void BoxPlacer::vector(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const ValueId made = op.results.at(0);
  std::vector<MeshAxes> cuts = cuts_of(made);
  for (const ValueId v : placed.operands) {  // as the first operand that has all of its dimensions
    if (!asked_.contains(made) && m_.type(v).dims == m_.type(made).dims && !m_.type(v).cuts.empty()) {
      cuts = m_.type(v).cuts;
      break;
    }
  }
  set_cuts(made, std::move(cuts));
  for (std::size_t i = 0; i < placed.operands.size(); ++i) placed.operands[i] = read_along(placed, i);
  emit(std::move(placed));
}

void BoxPlacer::view(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const ValueId made = op.results.at(0);
  const Layout own(m_, placed.operands[0]);
  std::vector<MeshAxes> cuts(m_.type(made).dims.size(), 0);
  const std::vector<std::size_t> places = view_places(m_, placed);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] != no_place) cuts[places[axis]] = own.cuts(axis);
  }
  set_cuts(made, std::move(cuts));
  emit(std::move(placed));
}

void BoxPlacer::reduce(const Op& op) {
  Op placed = op;
  placed.operands[0] = now(op.operands[0]);
  set_cuts(op.results.at(0), cuts_behind(placed));
  emit(std::move(placed));
}

void BoxPlacer::contraction(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const ValueId made = op.results.at(0);
  const bool free = is_onto(op) && !asked_.contains(made);
  const std::vector<MeshAxes> usual = free ? m_.type(placed.operands[2]).cuts : cuts_of(made);
  m_.value(made).type.cuts = usual;
  Op factors = placed;
  factors.operands.resize(2);
  const ProductWay way = best_way(m_, factors, usual, sizes_, laws_);
  set_cuts(made, way.cuts);
  for (std::size_t i = 0; i < 2; ++i) factors.operands[i] = held_along(factors.operands[i], way.held[i]);
  std::copy_n(factors.operands.begin(), 2, placed.operands.begin());
  if (is_onto(op)) placed.operands[2] = taken_up(op.operands[2], factors);
  emit(std::move(placed));
}

// Contributions that are made as those of these factors stay such, for one gather of both. Anything else is first at
// its owners, cut as the result.
ValueId BoxPlacer::taken_up(ValueId array, const Op& factors) {
  const Type &type = m_.type(array), &result = m_.type(factors.results.at(0));
  const RuleAnswer made = apply_rule(m_, factors, laws_);
  if (!made.allowed) throw InternalError("placing over a mesh: " + made.why);
  const State& state = made.results.at(0);
  const bool alike = type.state.is_pre() && state.is_pre() && type.cuts == result.cuts &&
                     same_function(m_, type.state.reducer, state.reducer) &&
                     held_axes(m_, type, type.state) == held_axes(m_, result, state);
  return alike ? array : with_cuts(now(array), result.cuts);
}

void BoxPlacer::list(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const ValueId made = op.results.at(0);
  const std::vector<MeshAxes> cuts = m_.type(placed.operands[0]).cuts;
  set_cuts(made, cuts);
  const bool put = op.code == OpCode::put, push = op.code == OpCode::push;
  if (put || push) {
    ValueId& array = placed.operands[put ? 2 : 1];
    array = with_cuts(array, cuts);
  }
  emit(std::move(placed));
}

// ---- control: carried values keep the layout of the first

void BoxPlacer::loop(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const Block& body = op.blocks.at(0);
  const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0, first_arg = op.code == OpCode::for_loop ? 1 : 0;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    const Type type = m_.type(placed.operands[bounds + k]);
    for (const ValueId v : {body.args[first_arg + k], op.results[k]}) {
      m_.value(v).type.cuts = type.cuts;
      m_.value(v).type.state = Layout(m_, type).is_shared() ? State::cons() : State::part();
    }
  }
  for (std::size_t k = 0; k < first_arg; ++k) m_.value(body.args[k]).type.state = State::cons();
  frames_.emplace_back();
  for (const ValueId arg : body.args) define(arg);
  place_block(body);
  Op yield = body.ops.back();
  for (std::size_t k = 0; k < yield.operands.size(); ++k) {
    yield.operands[k] = with_cuts(now(yield.operands[k]), m_.type(op.results[k]).cuts);
  }
  append(std::move(yield), frames_.size() - 1);
  placed.blocks[0].ops = std::move(frames_.back().ops);
  frames_.pop_back();
  for (const ValueId v : op.results) define(v);
  append(std::move(placed), frames_.size() - 1);
}

void BoxPlacer::branch(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  for (std::size_t b = 0; b < op.blocks.size(); ++b) {
    frames_.emplace_back();
    place_block(op.blocks[b]);
    Op yield = op.blocks[b].ops.back();
    for (std::size_t k = 0; k < yield.operands.size(); ++k) {
      const ValueId handed = now(yield.operands[k]);
      Type& result = m_.value(op.results[k]).type;
      if (b == 0) {
        result.cuts = m_.type(handed).cuts;
        result.state = Layout(m_, result).is_shared() ? State::cons() : State::part();
      }
      yield.operands[k] = with_cuts(handed, result.cuts);
    }
    append(std::move(yield), frames_.size() - 1);
    placed.blocks[b].ops = std::move(frames_.back().ops);
    frames_.pop_back();
  }
  for (const ValueId v : op.results) define(v);
  append(std::move(placed), frames_.size() - 1);
}

}  // namespace kasen
