#include "libopt/sync/box_placer.h"

#include <algorithm>

#include "libcore/analysis/map_laws.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen {

BoxPlacer::BoxPlacer(Module& module, LawChecker& laws, const Polynomial::Bindings& sizes)
    : m_(module), laws_(laws), sizes_(sizes) {}

void BoxPlacer::run() {
  std::map<ValueId, int> uses;
  for_each_op(m_, [&](const Op& op, int, int) {
    for (const ValueId v : op.operands) {
      if (++uses[v] == 1 && is_contraction(m_, op)) {
        only_reader_[v] = &op;
      } else {
        only_reader_.erase(v);
      }
    }
  });
  const Block body = std::move(m_.body);
  frames_.emplace_back();
  for (const Op& op : body.ops) place(op);
  m_.body = {body.args, std::move(frames_.back())};
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
    case OpGroup::axis:
    case OpGroup::linear:
      return vector(op);
    case OpGroup::vector:
    case OpGroup::shared:
      if (!is_view(op) && op.code != OpCode::reduce) return vector(op);
      [[fallthrough]];
    case OpGroup::source:
    case OpGroup::list:
      return as_it_is(op);
    case OpGroup::transition:
      return relayout(op);
    case OpGroup::product:
    case OpGroup::contraction:
      return contraction(op);
    case OpGroup::control:
      if (is_blocks(op)) return blocks(op);
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

// ---- operands

ValueId BoxPlacer::version(ValueId value, OpCode code, const Type& type, const char* suffix) {
  const auto key = std::tuple(value, code, held_axes(m_, type, type.state));
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

ValueId BoxPlacer::held_along(ValueId value, MeshAxes axes) {
  Type type = m_.type(value);
  if (axes == 0 || (axes & ~held_axes(m_, type, type.state)) == 0) return value;
  type.state = State::cons(held_set(m_, type, axes));
  return version(value, OpCode::scatter, type, "_s");
}

// ---- operators

void BoxPlacer::emit(Op op, bool everywhere) {
  const std::size_t depth = frames_.size() - 1;
  depth_.resize(m_.values.size(), 0);
  const RuleAnswer answer = apply_rule(m_, op, laws_);
  if (!answer.allowed) throw InternalError("placing over a mesh: " + answer.why);
  const std::vector<ValueId> results = op.results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const State& made = answer.results.at(i);
    m_.value(results[i]).type.state = made.is_cons() && !everywhere ? State::part() : made;
  }
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

void BoxPlacer::as_it_is(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  emit(std::move(placed));
}

// What is rearranged on its way is not cut, or sent by its owners.
void BoxPlacer::relayout(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) {
    v = now(v);
    const Layout layout(m_, v);
    const bool whole = layout.is_distributed() && layout.all_cuts() == 0;
    if (whole && rearranges_on_the_way(op)) v = held_along(v, all_mesh_axes(m_));
  }
  for (std::size_t i = moved_operands(m_, op); i < placed.operands.size(); ++i) {
    placed.operands[i] = held_along(placed.operands[i], all_mesh_axes(m_));
  }
  emit(std::move(placed));
}

// Operands are held along all axes that cut the operator otherwise.
void BoxPlacer::vector(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const std::vector<State> states(op.operands.size(), State::part());
  for (std::size_t i = 0; i < placed.operands.size(); ++i) {
    ValueId& operand = placed.operands[i];
    if (Layout(m_, operand).is_distributed()) operand = held_along(operand, needed_axes(m_, placed, i, states));
  }
  emit(std::move(placed));
}

void BoxPlacer::contraction(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  Op factors = placed;
  factors.operands.resize(2);
  const auto way = way_with_cuts(m_, factors, m_.type(op.results.at(0)).cuts, sizes_, laws_);
  if (!way) {
    fail(ExitStatus::bad_input, "no rule makes a product with these cuts", "its operands are cut otherwise (rule 17)",
         "leave out the cuts of its result, or cut an operand alike", op.where);
  }
  const auto shared = [&](ValueId v) { return Layout(m_, v).is_shared(); };
  const bool of_shareds = shared(factors.operands[0]) && shared(factors.operands[1]);
  const std::optional<ProductWay> often = of_shareds || is_onto(op) ? std::nullopt : repeated(factors, *way);
  const ProductWay& taken = often ? *often : *way;
  hold_operands(factors, taken.held);
  std::copy_n(factors.operands.begin(), 2, placed.operands.begin());
  if (is_onto(op)) placed.operands[2] = taken_up(op.operands[2], factors);
  emit(std::move(placed), of_shareds || often);
}

// An operand may be held along more axes than the way says, for the sake of another reader. Then the product is cut
// otherwise, and the other operand may be needed along more axes, too. What is held only grows.
void BoxPlacer::hold_operands(Op& product, std::array<MeshAxes, 2> along) {
  const auto state_of = [&](std::size_t i) {
    const Type& type = m_.type(product.operands[i]);
    const MeshAxes held = held_axes(m_, type, type.state);
    return (along.at(i) & ~held) == 0 ? type.state : State::cons(held_set(m_, type, along.at(i) |= held));
  };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<State> states{state_of(0), state_of(1)};
      const MeshAxes held = held_axes(m_, m_.type(product.operands[i]), states[i]);
      const MeshAxes needed = needed_axes(m_, product, i, states);
      if ((needed & ~held) == 0) continue;
      along.at(i) = needed | held;
      more = true;
    }
  }
  for (std::size_t i = 0; i < 2; ++i) product.operands[i] = held_along(product.operands[i], along.at(i));
}

// Where another contraction alone reads the result, along axes that hold it, and less moves if all workers along these
// make it themselves. So the product of two factors of MTTKRP is made at each place of the tensor's third dimension.
std::optional<ProductWay> BoxPlacer::repeated(const Op& op, const ProductWay& once) {
  const ValueId made = op.results.at(0);
  const auto reader = only_reader_.find(made);
  if (reader == only_reader_.end() || once.contributed > 0 || Layout(m_, made).is_shared()) return std::nullopt;
  Op factors = *reader->second;
  factors.operands.resize(2);
  const std::size_t place = factors.operands[0] == made ? 0 : 1;
  if (factors.operands[place] != made) return std::nullopt;
  factors.operands[1 - place] = now(factors.operands[1 - place]);
  const auto way = way_with_cuts(m_, factors, m_.type(factors.results.at(0)).cuts, sizes_, laws_);
  if (!way || way->held.at(place) == 0) return std::nullopt;
  const double sent = sizes_.bytes(m_, m_.type(made)) * (sizes_.workers_along(m_, way->held.at(place)) - 1);
  auto often = way_made_along(m_, op, m_.type(made).cuts, way->held.at(place), sizes_, laws_);
  return often && often->moved < once.moved + sent ? std::move(often) : std::nullopt;
}

// Contributions that are made as those of these factors stay such, for one gather of both. Anything else is first at
// its owners.
ValueId BoxPlacer::taken_up(ValueId array, const Op& factors) {
  const Type &type = m_.type(array), &result = m_.type(factors.results.at(0));
  const RuleAnswer made = apply_rule(m_, factors, laws_);
  if (!made.allowed) throw InternalError("placing over a mesh: " + made.why);
  const State& state = made.results.at(0);
  const bool alike = type.state.is_pre() && state.is_pre() && type.cuts == result.cuts &&
                     same_function(m_, type.state.reducer, state.reducer) &&
                     held_axes(m_, type, type.state) == held_axes(m_, result, state);
  return alike ? array : now(array);
}

// ---- control: carried values are P, and shareds C

void BoxPlacer::loop(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  const Block& body = op.blocks.at(0);
  const std::size_t first_arg = op.code == OpCode::for_loop ? 1 : 0;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    for (const ValueId v : {body.args[first_arg + k], op.results[k]}) {
      m_.value(v).type.state = Layout(m_, v).is_shared() ? State::cons() : State::part();
    }
  }
  for (std::size_t k = 0; k < first_arg; ++k) m_.value(body.args[k]).type.state = State::cons();
  frames_.emplace_back();
  for (const ValueId arg : body.args) define(arg);
  place_block(body);
  Op yield = body.ops.back();
  for (ValueId& v : yield.operands) v = now(v);
  append(std::move(yield), frames_.size() - 1);
  placed.blocks[0].ops = std::move(frames_.back());
  frames_.pop_back();
  for (const ValueId v : op.results) define(v);
  append(std::move(placed), frames_.size() - 1);
}

// Inside, arrays are as if each worker had them. Blocks of results go to their owners.
void BoxPlacer::blocks(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  for (const ValueId v : op.blocks.at(0).args) m_.value(v).type.state = State::cons();
  for (const Op& inner : op.blocks[0].ops) {
    for (const ValueId v : inner.results) m_.value(v).type.state = State::cons();
  }
  const std::size_t depth = frames_.size() - 1;
  for (const ValueId v : op.results) m_.value(v).type.state = State::part();
  append(std::move(placed), depth);
  depth_.resize(m_.values.size(), 0);
  for (const ValueId v : op.results) {
    depth_[v] = depth;
    settle(v);
  }
}

void BoxPlacer::branch(const Op& op) {
  Op placed = op;
  for (ValueId& v : placed.operands) v = now(v);
  for (std::size_t b = 0; b < op.blocks.size(); ++b) {
    frames_.emplace_back();
    place_block(op.blocks[b]);
    Op yield = op.blocks[b].ops.back();
    for (ValueId& v : yield.operands) v = now(v);
    append(std::move(yield), frames_.size() - 1);
    placed.blocks[b].ops = std::move(frames_.back());
    frames_.pop_back();
  }
  for (const ValueId v : op.results) {
    m_.value(v).type.state = Layout(m_, v).is_shared() ? State::cons() : State::part();
    define(v);
  }
  append(std::move(placed), frames_.size() - 1);
}

}  // namespace kasen
