// Building scalar expression trees: types are checked here, once, so that a tree is always well typed.
#include "libcore/scalar/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

std::string type_text(const ElementType& type) {
  std::string text;
  for (const Component& c : type.components) {
    if (!text.empty()) text += ", ";
    text += c.count > 0 ? fmt::format("[{}; {}]", scalar_name(c.scalar), c.count) : std::string(scalar_name(c.scalar));
  }
  return type.tuple ? '(' + text + ')' : text;
}

std::string shown(const ScalarOpRow& r) { return std::string(r.symbol.empty() ? r.name : r.symbol); }

[[noreturn]] void wrong_type(const std::string& op, const ElementType& type, const std::string& wanted,
                             const std::string& remedy = "convert it, for example with f64(x)") {
  const bool truth = type.is(Scalar::boolean) && wanted == "numbers";
  fail(ExitStatus::bad_input, fmt::format("'{}' does not take {}", op, type_text(type)), "it takes " + wanted,
       truth ? "write i64(x), which is 1 where it is true" : remedy);
}

void require_scalar(const ScalarOpRow& r, const std::vector<Expr>& args) {
  for (const Expr& arg : args) {
    if (!arg.type.is_scalar()) wrong_type(shown(r), arg.type, "scalars; take components t.0 or coordinates p[j]");
  }
}

// The first type that all of both convert to: whole numbers become floating-point ones, and not the other way.
std::string wider(const ElementType& a, const ElementType& b) {
  for (const Scalar scalar : {Scalar::f64, Scalar::f32, Scalar::i64, Scalar::i32}) {
    if (a.is(scalar) || b.is(scalar)) return std::string(scalar_name(scalar));
  }
  return "f64";
}

void require_same(const ScalarOpRow& r, const Expr& a, const Expr& b) {
  if (a.type == b.type) return;
  fail(ExitStatus::bad_input, fmt::format("'{}' of {} and {}", shown(r), type_text(a.type), type_text(b.type)),
       "both sides must have one type; nothing is converted silently",
       fmt::format("convert the other side to {0}: {0}(x)", wider(a.type, b.type)));
}

void require_all_same(const ScalarOpRow& r, const std::vector<Expr>& args) {
  for (size_t i = 1; i < args.size(); ++i) require_same(r, args[0], args[i]);
}

// `/`: every operand becomes f64 unless all are f32.
ElementType divide_type(const ScalarOpRow& r, std::vector<Expr>& args) {
  const bool single = std::all_of(args.begin(), args.end(), [](const Expr& e) { return e.type.is(Scalar::f32); });
  const Scalar target = single ? Scalar::f32 : Scalar::f64;
  for (Expr& arg : args) {
    if (!is_numeric(arg.type.scalar())) wrong_type(shown(r), arg.type, "numbers");
    if (!arg.type.is(target)) arg = make_cast(target, std::move(arg));
  }
  return ElementType::of(target);
}

ElementType check_plain(const ScalarOpRow& r, std::vector<Expr>& args) {
  require_scalar(r, args);
  const Scalar first = args[0].type.scalar();
  if (r.result == ResultRule::divide) return divide_type(r, args);
  require_all_same(r, args);
  switch (r.result) {
    case ResultRule::same: {
      const bool index = first == Scalar::id && (r.op == ScalarOp::min || r.op == ScalarOp::max);
      if (!is_numeric(first) && !index) wrong_type(shown(r), args[0].type, "numbers");
      return args[0].type;
    }
    case ResultRule::real:
      if (!is_float(first)) wrong_type(shown(r), args[0].type, "floating-point numbers");
      return args[0].type;
    case ResultRule::logic:
      if (first != Scalar::boolean) {
        wrong_type(shown(r), args[0].type, "bool",
                   "compare it, for example x != 0; bits have bit_and, bit_or, bit_not");
      }
      return args[0].type;
    case ResultRule::bits:
      if (first != Scalar::i64) wrong_type(shown(r), args[0].type, "i64", "write i64(x)");
      return args[0].type;
    case ResultRule::compare:
      if (first == Scalar::null) wrong_type(shown(r), args[0].type, "values that can be compared");
      return ElementType::of(Scalar::boolean);
    default:
      throw InternalError("check_plain: operator is built by hand");
  }
}

Expr node(ScalarOp op, ElementType type, std::vector<Expr> args) {
  Expr e;
  e.op = op;
  e.type = std::move(type);
  e.args = std::move(args);
  return e;
}

Expr make_select(std::vector<Expr> args) {
  const ScalarOpRow& r = row(ScalarOp::select);
  if (!args[0].type.is(Scalar::boolean)) wrong_type("if", args[0].type, "a bool condition");
  require_same(r, args[1], args[2]);
  ElementType type = args[1].type;
  return node(ScalarOp::select, std::move(type), std::move(args));
}

void collect_loops(const Expr& e, int& highest) {
  const bool loop = is_coordinate_loop(e.op);
  if (loop || e.op == ScalarOp::loop_var) highest = std::max(highest, e.index);
  for (const Expr& arg : e.args) collect_loops(arg, highest);
}

void shift_loops(Expr& e, int by) {
  const bool loop = is_coordinate_loop(e.op);
  if (loop || e.op == ScalarOp::loop_var) e.index += by;
  for (Expr& arg : e.args) shift_loops(arg, by);
}

// Each inserted argument gets its own loop numbers, above all used so far.
Expr substitute_from(const Expr& body, std::span<const Expr> args, int& next) {
  if (body.op == ScalarOp::param) {
    Expr copy = args[static_cast<size_t>(body.index)];
    int highest = -1;
    collect_loops(copy, highest);
    if (highest >= 0) {
      shift_loops(copy, next);
      next += highest + 1;
    }
    return copy;
  }
  Expr copy = body;
  for (Expr& arg : copy.args) arg = substitute_from(arg, args, next);
  return copy;
}

}  // namespace

bool operator==(const Expr& a, const Expr& b) {
  return a.op == b.op && a.type == b.type && a.index == b.index && a.count == b.count &&
         std::bit_cast<std::int64_t>(a.literal) == std::bit_cast<std::int64_t>(b.literal) && a.args == b.args;
}

Expr make_literal(Scalar scalar, Word value) {
  Expr e = node(ScalarOp::constant, ElementType::of(scalar), {});
  e.literal = value;
  return e;
}

Expr make_param(int index, const ElementType& type) {
  Expr e = node(ScalarOp::param, type, {});
  e.index = index;
  return e;
}

Expr make_op(ScalarOp op, std::vector<Expr> args) {
  const ScalarOpRow& r = row(op);
  if (static_cast<int>(args.size()) != r.arity) {
    fail(ExitStatus::bad_input, fmt::format("'{}' takes {} operands, not {}", shown(r), r.arity, args.size()));
  }
  if (op == ScalarOp::select) return make_select(std::move(args));
  ElementType type = check_plain(r, args);
  return node(op, std::move(type), std::move(args));
}

Expr make_cast(Scalar to, Expr arg) {
  const bool known =
      arg.type.is_scalar() && arg.type.scalar() != Scalar::null && to != Scalar::null && to != Scalar::id;
  if (!known) {
    fail(ExitStatus::bad_input, fmt::format("no conversion from {} to {}", type_text(arg.type), scalar_name(to)),
         "only scalars convert, and nothing converts to an id");
  }
  std::vector<Expr> args;
  args.push_back(std::move(arg));
  return node(ScalarOp::cast, ElementType::of(to), std::move(args));
}

Expr make_tuple(std::vector<Expr> args) {
  ElementType type;
  type.tuple = true;
  type.components.clear();
  for (const Expr& arg : args) {
    if (arg.type.tuple || arg.type.scalar() == Scalar::null) wrong_type("( , )", arg.type, "scalars and small arrays");
    type.components.push_back(arg.type.components[0]);
  }
  if (args.empty()) fail(ExitStatus::bad_input, "an empty tuple");
  return node(ScalarOp::make_tuple, std::move(type), std::move(args));
}

Expr make_component(Expr tuple, int index) {
  const auto count = static_cast<int>(tuple.type.components.size());
  if (!tuple.type.tuple || index < 0 || index >= count) {
    fail(ExitStatus::bad_input, fmt::format("no component .{} in {}", index, type_text(tuple.type)),
         "components count from .0");
  }
  ElementType type{{tuple.type.components[static_cast<size_t>(index)]}, false};
  std::vector<Expr> args;
  args.push_back(std::move(tuple));
  Expr e = node(ScalarOp::component, std::move(type), std::move(args));
  e.index = index;
  return e;
}

Expr make_element(Expr array, Expr index) {
  if (!array.type.is_array()) wrong_type("[ ]", array.type, "a small array such as [f64; 3]");
  if (!index.type.is(Scalar::i64)) wrong_type("[ ]", index.type, "an i64 coordinate");
  ElementType type{{Component{array.type.scalar(), array.type.components[0].id_of, 0}}, false};
  std::vector<Expr> args;
  args.push_back(std::move(array));
  args.push_back(std::move(index));
  return node(ScalarOp::element, std::move(type), std::move(args));
}

Expr make_loop_var(int number) {
  Expr e = node(ScalarOp::loop_var, ElementType::of(Scalar::i64), {});
  e.index = number;
  return e;
}

Expr make_loop(ScalarOp over, int number, std::int64_t count, Expr body) {
  const bool extremum = over == ScalarOp::min_over || over == ScalarOp::max_over;
  if (count < (extremum || over == ScalarOp::build ? 1 : 0) || count > (1 << 20)) {
    fail(ExitStatus::bad_input, fmt::format("a coordinate loop of {} iterations", count),
         "coordinate loops have 1 to 1048576 iterations");
  }
  if (!body.type.is_scalar()) wrong_type(std::string(row(over).name), body.type, "a scalar for each coordinate");
  if (over != ScalarOp::build && !is_numeric(body.type.scalar())) {
    wrong_type(std::string(row(over).name), body.type, "numbers");
  }
  ElementType type = body.type;
  if (over == ScalarOp::build) type.components[0].count = count;
  std::vector<Expr> args;
  args.push_back(std::move(body));
  Expr e = node(over, std::move(type), std::move(args));
  e.index = number;
  e.count = count;
  return e;
}

Expr substitute(const Expr& body, std::span<const Expr> args) {
  int highest = -1;
  collect_loops(body, highest);
  int next = highest + 1;
  return substitute_from(body, args, next);
}

bool is_identity(const ScalarFunction& fn) { return fn.params.size() == 1 && fn.body.op == ScalarOp::param; }

}  // namespace kasen
