#include "libcore/ir/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

bool uses_outer_loop(const Expr& e, std::set<int>& open) {
  if (e.op == ScalarOp::loop_var) return !open.contains(e.index);
  const bool opens = is_coordinate_loop(e.op) && open.insert(e.index).second;
  const bool uses =
      std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return uses_outer_loop(arg, open); });
  if (opens) open.erase(e.index);
  return uses;
}

// True if it has a value by itself, outside all coordinate loops around it.
bool stands_alone(const Expr& e) {
  std::set<int> open;
  return !uses_outer_loop(e, open);
}

// A number above those of all loops in it.
int above_loops(const Expr& e) {
  int number = is_coordinate_loop(e.op) ? e.index + 1 : 0;
  for (const Expr& arg : e.args) number = std::max(number, above_loops(arg));
  return number;
}

// Numbers its loops by their depth, so that equal parts of two functions are equal. `numbers`: of the open loops.
Expr numbered_by_depth(Expr e, std::map<int, int> numbers) {
  if (e.op == ScalarOp::loop_var) e.index = numbers.at(e.index);
  if (is_coordinate_loop(e.op)) {
    const auto depth = static_cast<int>(numbers.size());
    numbers[e.index] = depth;
    e.index = depth;
  }
  for (Expr& arg : e.args) arg = numbered_by_depth(std::move(arg), numbers);
  return e;
}

// Takes the parts out of the functions of one pass.
class Parts {
 public:
  explicit Parts(EntryPass& pass, std::vector<ScalarParam> params) : made_(pass), params_(std::move(params)) {}

  void take() {
    for (EntryPass::Result& result : made_.results) {
      Expr& body = result.function.body;
      if (body.type.is_array() && body.op != ScalarOp::build) {
        const int number = above_loops(body);
        const std::int64_t count = body.type.components[0].count;
        body = make_loop(ScalarOp::build, number, count, make_element(std::move(body), make_loop_var(number)));
      }
      take_sums(body);
    }
    for (EntryPass::Result& result : made_.results) {
      if (result.function.body.op == ScalarOp::build) take_once(result.function.body.args[0]);
    }
    for (auto* list : {&made_.sums, &made_.once})
      for (ScalarFunction& fn : *list) fn.params = params_;
    for (EntryPass::Result& result : made_.results) result.function.params = params_;
  }

 private:
  using Known = std::vector<std::pair<Expr, int>>;

  // A parameter replaces `e`. If no equal part is known, `list` gets the function that computes it.
  void replace(Expr& e, bool summands, std::vector<ScalarFunction>& list, Known& known) {
    Expr part = numbered_by_depth(e, {});
    auto it = std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == part; });
    if (it == known.end()) {
      known.emplace_back(part, static_cast<int>(params_.size()));
      it = known.end() - 1;
      params_.push_back({fmt::format("part_{}", params_.size()), e.type, {}});
      if (summands) part = make_loop(ScalarOp::build, part.index, part.count, std::move(part.args[0]));
      list.push_back({params_.back().name, {}, std::move(part)});
    }
    e = make_param(it->second, params_[static_cast<size_t>(it->second)].type);
  }

  void take_sums(Expr& e) {
    if (e.op == ScalarOp::sum_over && is_float(e.type.scalar()) && stands_alone(e)) {
      return replace(e, true, made_.sums, sums_);
    }
    for (Expr& arg : e.args) take_sums(arg);
  }

  void take_once(Expr& e) {
    const bool leaf = e.args.empty();
    if (!leaf && e.type.is_scalar() && stands_alone(e)) return replace(e, false, made_.once, once_);
    for (Expr& arg : e.args) take_once(arg);
  }

  EntryPass& made_;
  std::vector<ScalarParam> params_;
  Known sums_, once_;
};

EntryPass::Operand entry_operand(const Module& module, const Op& op, size_t i) {
  const Type& type = module.type(op.operands.at(i));
  EntryPass::Operand operand{op.operands[i], type.element, type.element, 1, EntrySide::shared, false};
  const bool fold = is_fold(op);
  operand.side = fold ? entry_side(module, op, i) : gives_rows(op) ? EntrySide::cols : EntrySide::rows;
  if (operand.side == EntrySide::shared) return operand;
  operand.across = !fold || is_across(module, op, i);
  operand.columns = point_columns(module, type);
  if (const auto seen = seen_element(module, type)) operand.seen = *seen;
  return operand;
}

// Where operands of a pass stand among its parameters: behind the nonzero.
size_t place_of(const std::vector<EntryPass::Operand>& operands, const EntryPass::Operand& wanted) {
  const auto at = std::find_if(operands.begin(), operands.end(), [&](const EntryPass::Operand& o) {
    return o.value == wanted.value && o.side == wanted.side;
  });
  return static_cast<size_t>(at - operands.begin());
}

// The operands of an operator, without its matrix.
std::vector<size_t> beside_matrix(const Op& op) {
  if (!is_fold(op)) return {0};
  std::vector<size_t> places;
  for (size_t i = 1; i < op.operands.size(); ++i) places.push_back(i);
  return places;
}

// The nonzero as a function sees it: of a null matrix the constant 1.
Expr nonzero(const Module& module, ValueId matrix, const ElementType& seen) {
  if (!module.type(matrix).element.is(Scalar::null)) return make_param(0, seen);
  return make_literal(seen.scalar(), is_float(seen.scalar()) ? Word::real(1) : Word::integer(1));
}

// An element of a point replaces the whole of it.
void replace_param(Expr& e, const Expr& element) {
  if (e.op == ScalarOp::param && e.index == element.args[0].index) {
    e = element;
    return;
  }
  for (Expr& arg : e.args) replace_param(arg, element);
}

// An operator's function of the pass's parameters.
Expr function_of(const Module& module, const EntryPass& pass, const Op& op) {
  const ScalarFunction& fn = module.fn(op.fns.at(0));
  std::vector<Expr> args;
  for (const size_t i : beside_matrix(op)) {
    const size_t place = place_of(pass.operands, entry_operand(module, op, i));
    args.push_back(make_param(static_cast<int>(place) + 1, pass.operands.at(place).seen));
  }
  const Expr entry = nonzero(module, pass.matrix, fn.params.at(is_fold(op) ? 0 : 1).type);
  args.insert(is_fold(op) ? args.begin() : args.end(), entry);
  if (is_fold(op) || !has_columns(module, op)) return substitute(fn.body, args);
  const Expr point = args[0];
  args[0] = make_param(point.index, fn.params[0].type);
  Expr body = substitute(fn.body, args);
  const int number = above_loops(body);
  replace_param(body, make_element(point, make_loop_var(number)));
  return make_loop(ScalarOp::build, number, product_columns(module, op), std::move(body));
}

}  // namespace

bool is_over_entries(const Module& module, const Type& type) {
  return type.dims.size() == 1 && module.dim(type.dims[0]).is_entries();
}

bool gives_values(const Module& module, const Op& op) {
  return op.code == OpCode::input && is_over_entries(module, module.type(op.results.at(0)));
}

bool reads_values(const Module& module, const std::string& matrix) {
  const std::vector<Op>& ops = module.body.ops;
  return std::any_of(ops.begin(), ops.end(),
                     [&](const Op& op) { return gives_values(module, op) && op.name == matrix; });
}

DimId entries_dim(const Module& module, const std::string& matrix) {
  for (const DimId dim : module.dims.ids())
    if (module.dim(dim).entries_of == matrix) return dim;
  return no_dim;
}

bool has_entries_dims(const Module& module) {
  return std::any_of(module.dims.begin(), module.dims.end(), [](const Dimension& dim) { return dim.is_entries(); });
}

bool numbers_entries(const Module& module, const Op& fold) {
  const auto at_entries = [&](ValueId v) { return is_over_entries(module, module.type(v)); };
  return is_fold(fold) && (gives_entries(fold) || std::any_of(fold.operands.begin(), fold.operands.end(), at_entries));
}

bool numbers_entries(const Module& module, std::span<const Op> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return numbers_entries(module, op); });
}

namespace {

// An array over a local dimension of the matrix is a shared that lies along the nonzeros.
bool lies_along(const Module& module, const Type& matrix, const Type& type) {
  return !type.dims.empty() && has_whole_lines(module, matrix) && contains(matrix.dims, type.dims[0]);
}

}  // namespace

EntrySide entry_side(const Module& module, const Op& fold, size_t i) {
  const Type& type = module.type(fold.operands.at(i));
  if (is_over_entries(module, type)) return EntrySide::entries;
  const bool along = lies_along(module, module.type(fold.operands[0]), type);
  if (!along && Layout(module, type).is_shared()) return EntrySide::shared;
  return i <= static_cast<size_t>(fold.at_rows) ? EntrySide::rows : EntrySide::cols;
}

SlaveSet entry_slaves(const Module& module, const Op& fold, EntrySide side) {
  if (has_whole_lines(module, module.type(fold.operands.at(0)))) return {};
  return {{matrix_name(module, fold.operands.at(0)), side == EntrySide::rows ? Axis::rows : Axis::cols}};
}

bool is_across(const Module& module, const Op& fold, size_t i) {
  const EntrySide side = entry_side(module, fold, i);
  return (side == EntrySide::rows || side == EntrySide::cols) && side != result_side(fold);
}

ValueId across_operand(const Module& module, const Op& fold) {
  for (size_t i = 1; i < fold.operands.size(); ++i)
    if (is_across(module, fold, i)) return fold.operands[i];
  throw InternalError("a fold without an operand over the other axis");
}

std::int64_t point_columns(const Module& module, const Type& type) {
  std::int64_t columns = 1;
  for (size_t i = 1; i < type.dims.size(); ++i) {
    const std::int64_t size = module.dim(type.dims[i]).size;
    if (size < 0 || size > most_point_coordinates) return std::numeric_limits<std::int64_t>::max();
    columns = std::min(columns * size, most_point_coordinates + 1);
  }
  return columns;
}

std::optional<ElementType> seen_element(const Module& module, const Type& type) {
  if (type.dims.size() < 2) return type.element;
  const std::int64_t columns = point_columns(module, type);
  ElementType seen = type.element;
  if (!seen.is_scalar() || columns < 1 || columns > most_point_coordinates) return std::nullopt;
  seen.components[0].count = columns;
  return seen;
}

bool visits_entries(const Module& module, const Op& op) { return is_fold(op) || is_sparse_product(module, op); }

bool joins_folds(const Module& module, const Op& op) {
  if (!visits_entries(module, op)) return false;
  if (is_fold(op)) return !gives_entries(op);
  const bool pattern = module.type(op.operands.at(1)).element.is(Scalar::null);
  if (pattern && !module.fn(op.fns.at(0)).params.at(1).type.is_scalar()) return false;
  return seen_element(module, module.type(op.operands[0])) && seen_element(module, module.type(op.results.at(0)));
}

bool holds_fold(const Op& op) {
  if (op.code != OpCode::region) return is_fold(op);
  const std::vector<Op>& ops = op.blocks.at(0).ops;
  return op.kind == RegionKind::mxm && std::any_of(ops.begin(), ops.end(), is_fold);
}

std::span<const Op> entry_operators(const Op& op) {
  if (op.code != OpCode::region) return {&op, 1};
  return std::span(op.blocks.at(0).ops).first(op.blocks[0].ops.size() - 1);
}

std::vector<EntryPass::Operand> entry_operands(const Module& module, std::span<const Op> ops) {
  std::vector<EntryPass::Operand> operands;
  for (const Op& op : ops) {
    for (const size_t i : beside_matrix(op)) {
      EntryPass::Operand operand = entry_operand(module, op, i);
      if (place_of(operands, operand) == operands.size()) operands.push_back(std::move(operand));
    }
  }
  return operands;
}

EntryPass entry_pass(const Module& module, std::span<const Op> ops) {
  EntryPass pass;
  pass.matrix = product_matrix(ops.front());
  pass.stores = gives_entries(ops.front());
  pass.numbered = numbers_entries(module, ops);
  pass.operands = entry_operands(module, ops);
  const ElementType& stored = module.type(pass.matrix).element;
  std::vector<ScalarParam> params{{"entry", stored.is(Scalar::null) ? ElementType::of(Scalar::f64) : stored, {}}};
  for (const EntryPass::Operand& operand : pass.operands) {
    params.push_back({fmt::format("x{}", params.size()), operand.seen, {}});
  }
  for (const Op& op : ops) {
    const Type& made = module.type(op.results.at(0));
    EntryPass::Result result{op.results[0], made.element, no_fn, made.dims.size() > 1, 1, {}};
    if (!pass.stores) {
      result.reducer = op.fns.at(1);
      result.columns = point_columns(module, made);
    }
    result.function.name = module.fn(op.fns[0]).name;
    result.function.body = function_of(module, pass, op);
    pass.results.push_back(std::move(result));
  }
  Parts(pass, std::move(params)).take();
  return pass;
}

}  // namespace kasen
