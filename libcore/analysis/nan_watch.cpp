#include "libcore/analysis/nan_watch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"

namespace kasen {
namespace {

bool is_float(const Component& component) { return is_float(component.scalar); }

bool has_floats(const ElementType& element) {
  return std::any_of(element.components.begin(), element.components.end(),
                     [](const Component& c) { return is_float(c); });
}

// True if some number of the element is NaN; only NaN differs from itself.
Expr is_nan(const Expr& value) {
  if (value.type.is_scalar()) return make_op(ScalarOp::ne, {value, value});
  std::vector<Expr> found;
  const auto look_at = [&](const Expr& part) {
    if (is_float(part.type.components[0])) found.push_back(is_nan(part));
  };
  const Component& first = value.type.components[0];
  for (int k = 0; value.type.tuple && k < static_cast<int>(value.type.components.size()); ++k) {
    look_at(make_component(value, k));
  }
  for (std::int64_t j = 0; !value.type.tuple && j < first.count; ++j) {
    look_at(make_element(value, make_literal(Scalar::i64, Word::integer(j))));
  }
  Expr any = found.at(0);
  for (size_t k = 1; k < found.size(); ++k) any = make_op(ScalarOp::logical_or, {std::move(any), found[k]});
  return any;
}

Expr place(std::int32_t at) { return make_literal(Scalar::i32, Word::integer(at)); }

// The marks of one region: one for results of one shape on owned elements, one for results that ghosts contribute to.
class RegionWatch {
 public:
  RegionWatch(KernelForm& form, Op& region, bool boxes)
      : form_(form), m_(form.module), region_(region), boxes_(boxes) {}

  void run() {
    find();
    for (const auto& [kind, watched] : groups_) mark(watched, kind.second);
  }

 private:
  struct Watched {
    std::int32_t place;
    ValueId value;
  };

  [[nodiscard]] std::vector<Op>& ops() { return region_.blocks.at(0).ops; }

  void find() {
    const bool as_pre = !boxes_ && in_one_loop();
    const std::vector<const Op*> order = in_program_order(form_, region_);
    for (size_t i = 0; i < order.size(); ++i) {
      const Op& op = *order[i];
      const Type& type = m_.type(op.results.at(0));
      if (!in_rows(op) || is_view(op) || !has_floats(type.element)) continue;
      const bool pre = as_pre || (!boxes_ && type.state.is_pre());
      groups_[{type.dims, pre}].push_back({static_cast<std::int32_t>(i), op.results[0]});
    }
  }

  // True if the value is known row by row, in the order of the region's loop.
  [[nodiscard]] bool in_rows(const Op& op) {
    if (boxes_) return !m_.type(op.results[0]).dims.empty();
    if (region_.kind == RegionKind::mxm || op.code == OpCode::mxv || Layout(m_, op.results[0]).is_shared())
      return false;
    return !is_epilogue(region_) || &op != &epilogue_product(region_);
  }

  // True if everything runs in one loop over owned elements and ghosts, with a reduction whose bits depend on that
  // loop. Then the copies in consistent values are checked, too.
  [[nodiscard]] bool in_one_loop() {
    bool reduces = false;
    for (const Op& op : std::span(ops()).first(ops().size() - 1)) {
      if (op.code == OpCode::gather || row(op.code).group == OpGroup::product) return false;
      const bool total = op.code == OpCode::reduce && Layout(m_, op.results.at(0)).is_shared();
      const State& state = m_.type(total ? op.operands[0] : op.results.at(0)).state;
      const LawUse* law = law_in_force(m_, op);
      if (law != nullptr && law->kind == LawKind::pushdown) return false;
      if (!state.is_pre() && (total || !state.is_cons())) return false;
      reduces = reduces || total;
    }
    return reduces;
  }

  // first = map(...): the first watched value that is NaN; mark = reduce[min](first).
  void mark(const std::vector<Watched>& watched, bool pre) {
    const FnId first_of = m_.add_function(smaller());
    Op map, reduce;
    map.code = OpCode::map;
    reduce.code = OpCode::reduce;
    map.where = reduce.where = region_.where;
    ScalarFunction fn{"first_nan", {}, place(no_nan_seen)};
    for (size_t k = watched.size(); k-- > 0;) {
      const Expr value = make_param(static_cast<int>(k), m_.type(watched[k].value).element);
      fn.body = make_op(ScalarOp::select, {is_nan(value), place(watched[k].place), std::move(fn.body)});
    }
    for (const Watched& w : watched) {
      map.operands.push_back(w.value);
      fn.params.push_back({"x" + std::to_string(fn.params.size()), m_.type(w.value).element, {}});
    }
    map.fns = {m_.add_function(std::move(fn))};
    reduce.fns = {first_of};
    Type type = m_.type(watched.at(0).value), shared;
    type.element = shared.element = ElementType::of(Scalar::i32);
    type.state = pre ? State::pre(first_of, slaves_of(watched)) : State::part();
    shared.state = State::pre(first_of);
    map.results = reduce.operands = {m_.add_value("first_nan", std::move(type))};
    reduce.results = {m_.add_value("nan_mark", shared)};
    ops().back().operands.push_back(reduce.results[0]);
    region_.results.push_back(m_.add_value("nan_mark", shared));
    ops().insert(ops().end() - 1, {std::move(map), std::move(reduce)});
  }

  [[nodiscard]] SlaveSet slaves_of(const std::vector<Watched>& watched) const {
    return m_.type(watched.at(0).value).state.slaves;  // a loop runs over one set
  }

  static ScalarFunction smaller() {
    const ElementType element = ElementType::of(Scalar::i32);
    return {"min",
            {{"x", element, {}}, {"y", element, {}}},
            make_op(ScalarOp::min, {make_param(0, element), make_param(1, element)})};
  }

  KernelForm& form_;
  Module& m_;
  Op& region_;
  const bool boxes_;  // the loop runs over all that the worker has of its values
  std::map<std::pair<std::vector<DimId>, bool>, std::vector<Watched>> groups_;
};

// An operator that reads the result of a later line belongs to the next iteration, moved into this one. It is
// speculated, whether in vain or not. `made_at` has the lines by value.
void find_next_iterations(Block& block, IdMap<ValueId, int>& made_at) {
  const auto line = [&](ValueId v) -> int& { return made_at[v]; };
  for (Op& op : block.ops) {
    for (Block& inner : op.blocks) find_next_iterations(inner, made_at);
    const OpGroup group = row(op.code).group;
    if (op.code == OpCode::region) {
      const std::vector<ValueId>& yielded = op.blocks[0].ops.back().operands;
      for (size_t r = 0; r < op.results.size(); ++r) line(op.results[r]) = line(yielded[r]);
    } else if (group != OpGroup::control && group != OpGroup::end) {
      const bool later =
          std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return line(v) > op.where.line; });
      op.speculated = op.speculated || later;
      for (const ValueId v : op.results) line(v) = later ? std::numeric_limits<int>::max() : op.where.line;
    }
  }
}

void watch(KernelForm& form, Block& block, bool boxes) {
  for (Op& op : block.ops) {
    if (is_blocks(op)) continue;  // nothing follows its rows
    if (op.code == OpCode::region) {
      RegionWatch(form, op, boxes).run();
    } else {
      for (Block& inner : op.blocks) watch(form, inner, boxes);
    }
  }
}

}  // namespace

std::vector<const Op*> in_program_order(const KernelForm& form, const Op& op) {
  if (op.code != OpCode::region) return {&op};
  std::vector<const Op*> order;
  for (const Op& inner : op.blocks.at(0).ops) {
    if (!inner.results.empty() && !form.is_mark(inner.results[0])) order.push_back(&inner);
  }
  std::stable_sort(order.begin(), order.end(), [](const Op* a, const Op* b) {
    return std::pair(a->speculated, a->where.line) < std::pair(b->speculated, b->where.line);
  });
  return order;
}

void watch_regions(KernelForm& form, bool boxes) {
  form.marks_from = form.module.values.end_id();
  IdMap<ValueId, int> made_at(form.module.values.size(), 0);
  find_next_iterations(form.module.body, made_at);
  watch(form, form.module.body, boxes);
  form.stands_for.resize(form.module.values.size(), no_value);
}

}  // namespace kasen
