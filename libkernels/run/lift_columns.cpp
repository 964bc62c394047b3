#include "libkernels/run/lift_columns.h"

#include <algorithm>
#include <utility>

#include "libcore/analysis/chain_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"

namespace kasen {
namespace {

// A number that no loop of the expression has.
int next_loop(const Expr& e) {
  int next = e.op == ScalarOp::loop_var || e.count > 0 ? e.index + 1 : 0;
  for (const Expr& arg : e.args) next = std::max(next, next_loop(arg));
  return next;
}

// Parameters that are arrays now, at the coordinate `loop`. (They were scalars, like all lifted values.)
Expr at_coordinate(Expr e, const std::vector<ScalarParam>& params, int loop) {
  if (e.op == ScalarOp::param) {
    const ElementType& type = params[static_cast<size_t>(e.index)].type;
    return e.type == type ? e : make_element(make_param(e.index, type), make_loop_var(loop));
  }
  for (Expr& arg : e.args) arg = at_coordinate(std::move(arg), params, loop);
  return e;
}

// The function for arrays: it goes coordinate by coordinate, for those parameters that are arrays now.
void lift_body(ScalarFunction& fn, std::int64_t columns) {
  const int loop = next_loop(fn.body);
  fn.body = make_loop(ScalarOp::build, loop, columns, at_coordinate(std::move(fn.body), fn.params, loop));
}

}  // namespace

std::int64_t ColumnLift::columns(ValueId value) const { return columns_.contains(value) ? columns_[value] : 0; }

void ColumnLift::lift(ValueId value, DimId rows) {
  if (columns(value) > 0) return;
  Type& type = module_.value(value).type;
  const bool along = !type.dims.empty() && type.dims[0] == rows;
  if (type.dims.size() == (along ? 1U : 0U)) return;
  const std::int64_t count = module_.dim(type.dims.back()).size;
  columns_.resize(module_.values.size());
  columns_[value] = count;
  const DimId id_of = type.element.components[0].id_of;
  type.element = ElementType::array(type.element.scalar(), count);
  type.element.components[0].id_of = id_of;
  type.dims.pop_back();
}

std::vector<Op> ColumnLift::lift(std::span<const Op* const> work, DimId rows, const std::vector<ValueId>& outside) {
  const auto is_outside = [&](ValueId v) { return std::find(outside.begin(), outside.end(), v) != outside.end(); };
  for (const Op* op : work) {
    // The elements that a slice shows of an array in memory are read there.
    const bool shows = is_slice(*op) && is_outside(viewed(*op));
    for (auto v = op->operands.begin() + (shows ? 1 : 0); v != op->operands.end(); ++v) lift(*v, rows);
    for (const ValueId v : op->results) lift(v, rows);
  }
  std::vector<Op> made;
  for (const Op* op : work) {
    if (op->code == OpCode::reduce) {
      reduce(*op, made);
    } else if (is_slice(*op)) {
      if (!is_outside(viewed(*op))) made.push_back(slice(*op));
    } else {
      map(made.emplace_back(*op));
    }
  }
  return made;
}

// Takes operands with columns at the coordinate that is computed.
void ColumnLift::map(Op& op) {
  const std::int64_t count = columns(op.results.at(0));
  if (count == 0) return;
  ScalarFunction fn = module_.fn(op.fns.at(0));
  for (size_t i = 0; i < op.operands.size(); ++i) fn.params[i].type = module_.type(op.operands[i]).element;
  lift_body(fn, count);
  op.fns[0] = module_.add_function(std::move(fn));
}

// For a row's elements, which the lane holds: a map that takes some of them, or one.
Op ColumnLift::slice(const Op& op) {
  const ElementType element = module_.type(viewed(op)).element, place = ElementType::of(Scalar::i64);
  const bool single = takes_one_index(op);
  ScalarFunction fn{std::string(row(op.code).name), {{"x", element, {}}, {"begin", place, {}}}, {}};
  Expr begin = make_param(1, place);
  Expr at = single ? std::move(begin) : make_op(ScalarOp::add, {make_loop_var(0), std::move(begin)});
  fn.body = make_element(make_param(0, element), std::move(at));
  if (!single) fn.body = make_loop(ScalarOp::build, 0, columns(op.results.at(0)), std::move(fn.body));
  Op map = op;
  map.code = OpCode::map;
  map.fns = {module_.add_function(std::move(fn))};
  map.over.clear();
  map.dim = no_dim;
  return map;
}

// Over the columns: a map. Over the rows: column by column. Over both: the one, then the other.
void ColumnLift::reduce(const Op& op, std::vector<Op>& made) {
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  if (columns(from) == 0) {
    made.push_back(op);
    return;
  }
  const ElementType element = module_.type(from).element;
  if (columns(to) > 0) {
    made.push_back(op);
    made.back().fns[0] = across(op.fns.at(0), element);
    made.back().over.clear();
    return;
  }
  Op row = op;
  row.code = OpCode::map;
  row.fns = {within(op.fns.at(0), element)};
  row.over.clear();
  const bool all = module_.type(to).dims.empty();
  if (all) {
    Type type = module_.type(from);
    type.element = module_.type(to).element;
    row.results = {module_.add_value("row", std::move(type))};
  }
  made.push_back(row);
  if (!all) return;
  made.push_back(op);
  made.back().operands = row.results;
}

FnId ColumnLift::within(FnId reducer, const ElementType& element) {
  const std::optional<ScalarOp> loop = coordinate_loop(module_.fn(reducer));
  if (!loop) throw InternalError("a reducer that does not reduce columns");
  ScalarFunction fn{"row", {{"x", element, {}}}, {}};
  fn.body = make_loop(*loop, 0, element.planes(), make_element(make_param(0, element), make_loop_var(0)));
  return module_.add_function(std::move(fn));
}

FnId ColumnLift::across(FnId reducer, const ElementType& element) {
  ScalarFunction fn = module_.fn(reducer);
  for (ScalarParam& param : fn.params) param.type = element;
  lift_body(fn, element.planes());
  return module_.add_function(std::move(fn));
}

}  // namespace kasen
