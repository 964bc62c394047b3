#include "libopt/layouts/tiler.h"

#include <algorithm>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {

Tiler::Tiler(Module& module, LawChecker& laws, const ProductSizes& sizes, TilingDecisions decided)
    : m_(module), laws_(laws), sizes_(sizes), decided_(std::move(decided)) {}

void Tiler::run() {
  for_each_op(m_, [&](const Op& op, int number, int) { numbers_[&op] = number; });
  const Block body = std::move(m_.body);  // its operators stay where they are
  frames_.emplace_back();
  for (const ValueId arg : body.args) define(arg);
  for (const Op& op : body.ops) tile(op);
  m_.body = {body.args, std::move(frames_.back())};
}

void Tiler::tile_block(const Block& block) {
  for (const Op& op : block.ops) {
    if (op.code != OpCode::yield) tile(op);
  }
}

void Tiler::tile(const Op& op) {
  where_ = op.where;
  number_ = numbers_.at(&op);
  switch (row(op.code).group) {
    case OpGroup::source:
      return source(op);
    case OpGroup::vector:
      if (op.code == OpCode::reduce) return reduce(op);
      return is_view(op) ? view(op) : vector(op);
    case OpGroup::axis:
      if (is_grouping(op)) return reduce(op);
      [[fallthrough]];
    case OpGroup::shared:
      return vector(op);
    case OpGroup::linear:
      return linear(op);
    case OpGroup::product:
    case OpGroup::contraction:
      return contraction(op);
    case OpGroup::list:
      return list(op);
    case OpGroup::control:
      return op.code == OpCode::if_else ? branch(op) : loop(op);
    case OpGroup::end:
      return output(op);
    default:
      throw InternalError("an operator that no mesh takes");
  }
}

// ---- layouts

const Cuts* Tiler::decided(ValueId value) const {
  const auto it = decided_.cuts.find(value);
  return it == decided_.cuts.end() ? nullptr : &it->second;
}

Cuts Tiler::cuts_of(ValueId value) const {
  const Cuts* const cuts = decided(value);
  return cuts != nullptr ? *cuts : usual_cuts(m_, m_.type(value).dims);
}

// Local dimensions alone have no cuts of their own.
void Tiler::set_cuts(ValueId value, Cuts cuts) {
  Type& type = m_.value(value).type;
  const bool local = std::all_of(type.dims.begin(), type.dims.end(), [&](DimId d) { return m_.dim(d).local; });
  type.cuts = local ? Cuts() : std::move(cuts);
}

// ---- operands

ValueId Tiler::relayout(ValueId value, const Cuts& cuts, std::size_t depth) {
  Type type = m_.type(value);
  type.cuts = cuts;
  const ValueId made = m_.add_value(m_.value(value).name + "_r", type);
  Op op;
  op.code = OpCode::relayout;
  op.where = where_;
  op.operands = {value};
  op.results = {made};
  append(std::move(op), depth);
  depth_.resize(m_.values.size(), 0);
  depth_[made] = depth;
  return made;
}

// A version of a value is made once, where the value itself is: outside of the loops that use it.
ValueId Tiler::with_cuts(ValueId value, const Cuts& cuts) {
  if (m_.type(value).cuts == cuts) return value;
  if (decided_.anew.contains({value, cuts})) return relayout(value, cuts, frames_.size() - 1);
  const auto [it, is_new] = versions_.try_emplace({value, cuts}, no_value);
  if (is_new) it->second = relayout(value, cuts, depth_[value]);
  return it->second;
}

// Either the operand is held along all axes that cut the operator otherwise, or it is first cut as the operator is.
Cuts Tiler::usual_read(const Op& op, std::size_t operand) const {
  const Type& type = m_.type(op.operands[operand]);
  const Type& result = m_.type(op.results.at(0));
  const Layout along(m_, result);
  if (Layout(m_, type).is_shared()) return type.cuts;
  const std::vector<State> states(op.operands.size(), State::part());
  const auto workers = [&](MeshAxes axes) { return sizes_.workers_along(m_, axes); };
  const MeshAxes as_it_is = needed_axes(m_, op, operand, states);
  Cuts cuts;
  MeshAxes cut = 0;
  const std::vector<std::ptrdiff_t> met = is_axis_op(op)                          ? cut_places(m_, op, operand)
                                          : row(op.code).group == OpGroup::linear ? batch_places(m_, op, operand)
                                                                                  : met_axes(result.dims, type.dims);
  for (const std::ptrdiff_t axis : met) {
    AxisCut own = axis == no_axis ? AxisCut() : along.cut_of(static_cast<std::size_t>(axis));
    if (m_.dim(type.dims[cuts.size()]).is_workers() && own.block != 0) own = {};  // a product's, of which it is a part
    cuts.push_back(own);
    cut |= own.axes;
  }
  const MeshAxes elsewhere = along.all_cuts() & ~cut;  // of the operator's other dimensions
  const bool whole = cut == 0;                         // it would lie on one worker
  return whole || workers(as_it_is) - 1 <= workers(elsewhere) ? type.cuts : cuts;
}

ValueId Tiler::read(const Op& op, std::size_t operand, const Cuts& usual) {
  const auto it = decided_.read.find({number_, operand});
  const ValueId value = op.operands[operand];
  if (Layout(m_, value).is_shared()) return value;
  return with_cuts(value, it == decided_.read.end() ? usual : it->second);
}

// ---- operators

// Readers of a result find it as is decided, whatever its operator makes.
void Tiler::emit(Op op) {
  const std::vector<ValueId> results = op.results;
  append(std::move(op), frames_.size() - 1);
  now_.resize(m_.values.size(), no_value);
  for (const ValueId made : results) {
    define(made);
    const Cuts* const cuts = decided(made);
    if (cuts == nullptr || m_.type(made).cuts.empty()) continue;
    const ValueId last = with_cuts(made, *cuts);
    now_.resize(m_.values.size(), no_value);
    now_[made] = last;
  }
}

void Tiler::source(Op op) {
  const ValueId made = op.results.at(0);
  set_cuts(made, cuts_of(made));
  emit(std::move(op));
}

bool Tiler::is_free() const { return m_.mesh.empty() && sizes_.workers_along(m_, all_mesh_axes(m_)) == 1; }

// Elements go straight to their owners, as is decided, or where lines are cut.
bool Tiler::rearranged(Op op) {
  const ValueId made = op.results.at(0);
  set_cuts(made, cuts_of(made));
  bool decides = false, crosses = false;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    decides = decides || decided_.read.contains({number_, i});
    crosses = crosses || goes_straight(m_, op, i);
  }
  // One worker moves nothing either way, and makes one copy so.
  if (decides && !is_free() ? !decided_.straight.contains(number_) : !crosses) return false;
  for (std::size_t i = 0; i < op.operands.size(); ++i) op.operands[i] = read(op, i, m_.type(op.operands[i]).cuts);
  op.code = OpCode::relayout;
  emit(std::move(op));
  return true;
}

// The workers along a dimension sort together, as is decided, or where it is cut.
bool Tiler::sorted(Op op) {
  const bool decides = decided_.read.contains({number_, 0});
  if ((op.code != OpCode::sort && op.code != OpCode::argsort) || (decides && !decided_.straight.contains(number_))) {
    return false;
  }
  op.operands[0] = read(op, 0, m_.type(op.operands[0]).cuts);
  const ValueId made = op.results.at(0);
  const Cuts before = m_.type(made).cuts;
  set_cuts(made, m_.type(op.operands[0]).cuts);
  if (sorts_across(m_, op)) {
    emit(std::move(op));
    return true;
  }
  m_.value(made).type.cuts = before;
  return false;
}

void Tiler::vector(Op op) {
  read_now(op);
  if (is_rearrangement(op) && rearranged(op)) return;
  if (sorted(op)) return;
  const ValueId made = op.results.at(0);
  Cuts cuts = cuts_of(made);
  for (const ValueId v : op.operands) {  // as the first operand that has all of its dimensions
    if (decided(made) == nullptr && m_.type(v).dims == m_.type(made).dims && !m_.type(v).cuts.empty()) {
      cuts = m_.type(v).cuts;
      break;
    }
  }
  // The parts of a scan take up carries, as is decided, or wherever they are cut.
  const bool undecided = !decided_.read.contains({number_, 0}) || is_free();
  const bool carried = op.code == OpCode::scan && (undecided || decided_.straight.contains(number_));
  if (is_axis_op(op)) cuts = carried ? lines_in_runs(m_, op, std::move(cuts)) : made_cuts(m_, op, std::move(cuts));
  set_cuts(made, std::move(cuts));
  for (std::size_t i = 0; i < op.operands.size(); ++i) op.operands[i] = read(op, i, usual_read(op, i));
  emit(std::move(op));
}

// The dimensions of matrices are local. All results are cut as the first.
void Tiler::linear(Op op) {
  read_now(op);
  const Cuts cuts = cuts_of(op.results.at(0));
  for (const ValueId made : op.results) {
    Cuts own(m_.type(made).dims.size());
    std::copy_n(cuts.begin(), std::min(cuts.size(), batch_rank(m_, op)), own.begin());
    set_cuts(made, std::move(own));
  }
  for (std::size_t i = 0; i < op.operands.size(); ++i) op.operands[i] = read(op, i, usual_read(op, i));
  emit(std::move(op));
}

void Tiler::view(Op op) {
  read_now(op);
  op.operands[0] = read(op, 0, m_.type(op.operands[0]).cuts);
  set_cuts(op.results.at(0), view_cuts(m_, op));
  emit(std::move(op));
}

// Keys are cut as the elements beside which they are read.
void Tiler::reduce(Op op) {
  read_now(op);
  const std::size_t walked = is_grouping(op) ? walked_operand(m_, op) : 0;
  op.operands[walked] = read(op, walked, m_.type(op.operands[walked]).cuts);
  if (is_grouping(op) && walked == 0) {
    const Type &array = m_.type(op.operands[0]), &keys = m_.type(op.operands[1]);
    Cuts beside = keys.cuts;
    for (std::size_t axis = 0; axis < beside.size(); ++axis) {
      const auto met = std::find(array.dims.begin(), array.dims.end(), keys.dims[axis]) - array.dims.begin();
      beside[axis] = Layout(m_, array).cut_of(static_cast<std::size_t>(met));
    }
    op.operands[1] = read(op, 1, is_uncut(beside) ? keys.cuts : beside);
  }
  set_cuts(op.results.at(0), cuts_behind(m_, op, decided(op.results[0])));
  emit(std::move(op));
}

// An array that the terms are reduced onto is read before it is cut anew, where its contributions may stay such
// (box_placer.h).
void Tiler::contraction(Op op) {
  const ValueId onto = is_onto(op) ? op.operands[2] : no_value;
  read_now(op);
  const ValueId made = op.results.at(0);
  for (std::size_t i = 0; i < 2; ++i) op.operands[i] = read(op, i, m_.type(op.operands[i]).cuts);
  const bool free = is_onto(op) && decided(made) == nullptr;
  const Cuts usual = free ? m_.type(op.operands[2]).cuts : cuts_of(made);
  Op factors = op;
  factors.operands.resize(2);
  const std::optional<ProductWay> exact =
      decided(made) == nullptr ? std::nullopt : way_with_cuts(m_, factors, usual, sizes_, laws_);
  set_cuts(made, exact ? usual : best_way(m_, factors, usual, sizes_, laws_).cuts);
  if (is_onto(op)) {
    const Cuts& cuts = m_.type(made).cuts;
    op.operands[2] = m_.type(onto).cuts == cuts ? onto : with_cuts(op.operands[2], cuts);
  }
  emit(std::move(op));
}

void Tiler::list(Op op) {
  read_now(op);
  const ValueId made = op.results.at(0);
  const bool put = op.code == OpCode::put, push = op.code == OpCode::push;
  if (op.code == OpCode::make_list && decided(made) != nullptr && !m_.type(op.operands[0]).cuts.empty()) {
    op.operands[0] = with_cuts(op.operands[0], *decided(made));
  }
  const Cuts cuts = m_.type(op.operands[0]).cuts;
  set_cuts(made, cuts);
  if (put || push) {
    ValueId& array = op.operands[put ? 2 : 1];
    if (!cuts.empty()) array = with_cuts(array, cuts);
  }
  emit(std::move(op));
}

// The program's outputs are the last operators; with `decided` cuts of a value, these are the output's.
void Tiler::output(Op op) {
  read_now(op);
  append(std::move(op), frames_.size() - 1);
}

// ---- control

void Tiler::loop(const Op& op) {
  Op tiled = op;
  read_now(tiled);
  const Block& body = op.blocks.at(0);
  const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0, first_arg = op.code == OpCode::for_loop ? 1 : 0;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    ValueId& first = tiled.operands[bounds + k];
    const Cuts* const cuts = decided(op.results[k]);
    if (cuts != nullptr && !m_.type(first).cuts.empty()) first = with_cuts(first, *cuts);
    for (const ValueId v : {body.args[first_arg + k], op.results[k]}) m_.value(v).type.cuts = m_.type(first).cuts;
  }
  frames_.emplace_back();
  for (const ValueId arg : body.args) define(arg);
  tile_block(body);
  Op yield = body.ops.back();
  for (std::size_t k = 0; k < yield.operands.size(); ++k) {
    yield.operands[k] = with_cuts(now(yield.operands[k]), m_.type(op.results[k]).cuts);
  }
  append(std::move(yield), frames_.size() - 1);
  tiled.blocks[0].ops = std::move(frames_.back());
  frames_.pop_back();
  for (const ValueId v : op.results) define(v);
  append(std::move(tiled), frames_.size() - 1);
}

void Tiler::branch(const Op& op) {
  Op tiled = op;
  read_now(tiled);
  for (std::size_t b = 0; b < op.blocks.size(); ++b) {
    frames_.emplace_back();
    tile_block(op.blocks[b]);
    Op yield = op.blocks[b].ops.back();
    for (std::size_t k = 0; k < yield.operands.size(); ++k) {
      const ValueId handed = now(yield.operands[k]);
      const Cuts* const cuts = decided(op.results[k]);
      Cuts& result = m_.value(op.results[k]).type.cuts;
      if (b == 0) result = cuts != nullptr && !m_.type(handed).cuts.empty() ? *cuts : m_.type(handed).cuts;
      yield.operands[k] = with_cuts(handed, result);
    }
    append(std::move(yield), frames_.size() - 1);
    tiled.blocks[b].ops = std::move(frames_.back());
    frames_.pop_back();
  }
  for (const ValueId v : op.results) define(v);
  append(std::move(tiled), frames_.size() - 1);
}

}  // namespace kasen
