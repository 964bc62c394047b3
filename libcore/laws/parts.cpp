#include "libcore/laws/parts.h"

#include <optional>
#include <utility>

namespace kasen {
namespace {

// One component of a reducer's elements, and the loop over its coordinates if it is an array.
struct PartPlace {
  bool tuple = false;
  int component = 0;
  bool array = false;
  int variable = -1;
  ElementType number;  // the type of one of its numbers
};

bool reads_component(const Expr& e, const PartPlace& at) {
  if (!at.tuple) return e.op == ScalarOp::param;
  return e.op == ScalarOp::component && e.index == at.component && e.args[0].op == ScalarOp::param;
}

bool reads_number(const Expr& e, const PartPlace& at) {
  if (!at.array) return reads_component(e, at);
  return e.op == ScalarOp::element && reads_component(e.args[0], at) && e.args[1].op == ScalarOp::loop_var &&
         e.args[1].index == at.variable;
}

// Makes each number that `e` reads at the place a parameter. False if it reads anything else of its parameters.
bool narrow(Expr& e, const PartPlace& at) {
  if (reads_number(e, at)) {
    Expr& read = at.array ? e.args[0] : e;
    const int parameter = at.tuple ? read.args[0].index : read.index;
    Expr number;
    number.op = ScalarOp::param;
    number.index = parameter;
    number.type = at.number;
    e = std::move(number);
    return true;
  }
  if (e.op == ScalarOp::param || (e.op == ScalarOp::loop_var && e.index == at.variable)) return false;
  if (at.array && e.count > 0 && e.index == at.variable) return false;  // another loop with the variable's number
  for (Expr& arg : e.args) {
    if (!narrow(arg, at)) return false;
  }
  return true;
}

std::optional<ScalarFunction> part_at(const ScalarFunction& reducer, int c) {
  const ElementType& type = reducer.result();
  const Component& component = type.components[static_cast<size_t>(c)];
  PartPlace at{
      .tuple = type.tuple, .component = c, .array = component.count > 0, .number = ElementType::of(component.scalar)};
  at.number.components[0].id_of = component.id_of;
  Expr body = type.tuple ? reducer.body.args[static_cast<size_t>(c)] : reducer.body;
  if (at.array) {
    if (body.op != ScalarOp::build || body.count != component.count) return std::nullopt;
    at.variable = body.index;
    Expr each = std::move(body.args[0]);
    body = std::move(each);
  }
  if (!narrow(body, at)) return std::nullopt;
  ScalarFunction part = reducer;
  for (ScalarParam& param : part.params) param = {param.name, at.number, {}};
  part.body = std::move(body);
  return part;
}

}  // namespace

std::vector<ScalarFunction> parts_of(const ScalarFunction& reducer) {
  const ElementType& type = reducer.result();
  if (type.is_scalar() || (type.tuple && reducer.body.op != ScalarOp::make_tuple)) return {};
  std::vector<ScalarFunction> parts;
  for (size_t c = 0; c < type.components.size(); ++c) {
    std::optional<ScalarFunction> part = part_at(reducer, static_cast<int>(c));
    if (!part) return {};
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace kasen
