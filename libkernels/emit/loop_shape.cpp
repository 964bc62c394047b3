#include "libkernels/emit/loop_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libkernels/emit/emit_slices.h"
#include "libkernels/math/emit_math.h"

namespace kasen {

Type loop_type(const Module& module, const LoopBody& body) {
  Type widest;
  const auto take = [&](ValueId id) {
    if (module.type(id).dims.size() > widest.dims.size()) widest = module.type(id);
  };
  for (const Op* op : body.ops) {
    take(op->results[0]);
    if (is_view(*op)) continue;  // its array does not lie along the loop
    for (const ValueId id : op->operands) take(id);
  }
  for (const ValueId id : body.outputs) {
    if (id != no_value) take(id);
  }
  return widest;
}

Reach reach_of(const Module& module, const Type& loop, const Type& type) {
  if (type.dims.empty()) return loop.dims.empty() ? Reach::whole : Reach::shared;
  const Layout of_loop(module, loop), of_array(module, type);
  const bool whole = of_array.cut() == of_loop.cut() && of_array.whole_dims() == of_loop.whole_dims();
  return whole ? Reach::whole : Reach::some;
}

bool looked_at_once(const Module& module, const LoopBody& body, ValueId id) {
  const auto count = [&](const std::vector<ValueId>& ids) { return std::count(ids.begin(), ids.end(), id); };
  std::ptrdiff_t uses = count(body.outputs);
  for (const auto& [alias, of] : body.same) uses += of == id ? 2 : 0;
  for (const Op* op : body.ops) {
    const bool adds = op->code == OpCode::reduce && Accumulator::only_adds(module.fn(op->fns[0]).body);
    uses += count(op->operands) * (adds ? 1 : 2);
  }
  return uses == 1;
}

namespace {

bool has_long_chain(const Expr& expr) {
  if (!expr.args.empty() && emits_math(expr.op, expr.args[0].type)) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), has_long_chain);
}

}  // namespace

int loop_lanes(const Module& module, const LoopBody& body, const Target& target) {
  if (body.rows != nullptr || !target.fuses() || !target.takes_first(Choice::chains)) return reduction_lanes;
  const auto hinders = [&](ValueId id) {
    const Type& type = module.type(id);
    const auto& parts = type.element.components;
    return std::any_of(parts.begin(), parts.end(), [](const Component& c) { return c.count > 0; });
  };
  bool chain = false;
  for (const Op* op : body.ops) {
    if (op->code == OpCode::reduce || is_view(*op) || hinders(op->results[0])) return reduction_lanes;
    if (std::any_of(op->operands.begin(), op->operands.end(), hinders)) return reduction_lanes;
    chain = chain || has_long_chain(module.fn(op->fns[0]).body);
  }
  return chain ? 2 * reduction_lanes : reduction_lanes;
}

void check_loop(const Module& module, const LoopBody& body, const Type& loop) {
  for (const Op* op : body.ops) {
    const bool known =
        op->code == OpCode::map || op->code == OpCode::reduce || op->code == OpCode::apply || is_view(*op);
    if (!known) {
      refuse(fmt::format("'{}' inside a fused loop", row(op->code).name), "fused loops hold map, reduce and views",
             op->where);
    }
    const Type& type = module.type(op->results[0]);
    if (op->code == OpCode::reduce) {
      if (!type.dims.empty()) {
        refuse("a reduction over some of the dimensions", "reductions give one value for the whole array", op->where);
      }
      if (reach_of(module, loop, module.type(op->operands[0])) != Reach::whole) {
        refuse("a reduction of an array that is broadcast in its loop", "it has fewer dimensions than the loop",
               op->where);
      }
    }
  }
  for (const ValueId id : body.outputs) {
    const bool reduced = std::any_of(body.ops.begin(), body.ops.end(),
                                     [&](const Op* op) { return op->code == OpCode::reduce && op->results[0] == id; });
    if (!reduced && id != no_value && reach_of(module, loop, module.type(id)) != Reach::whole) {
      refuse(fmt::format("a loop over arrays of different dimensions (%{})", module.value(id).name),
             "all results of one loop have the same dimensions", body.where);
    }
  }
}

}  // namespace kasen
