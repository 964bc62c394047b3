#include "libcore/scalar/keyed.h"

#include <algorithm>
#include <cstdlib>

namespace kasen {
namespace {

bool is_all_zero(const Expr& e) {
  if (e.op == ScalarOp::constant) return e.literal.i == 0;  // of a float: +0
  const bool holds = e.op == ScalarOp::build || e.op == ScalarOp::make_tuple;
  return holds && std::all_of(e.args.begin(), e.args.end(), is_all_zero);
}

// The expression of one component of a value.
const Expr& component_of(const Expr& value, std::size_t component) {
  return value.op == ScalarOp::make_tuple ? value.args[component] : value;
}

}  // namespace

std::optional<KeyedBody> as_keyed(const Expr& body) {
  if (body.op != ScalarOp::select || body.args[0].op != ScalarOp::eq || !is_all_zero(body.args[2])) return std::nullopt;
  const Expr &left = body.args[0].args[0], &right = body.args[0].args[1];
  const bool integers = left.type.is(Scalar::i64) || left.type.is(Scalar::i32);
  const bool behind = right.op == ScalarOp::constant;
  if (!integers || behind == (left.op == ScalarOp::constant)) return std::nullopt;
  return KeyedBody{behind ? &left : &right, &body.args[1], (behind ? right : left).literal.i};
}

bool may_be_keyed(const KeyedBody& body) {
  constexpr std::int64_t small = std::int64_t{1} << 16;  // times a block's elements: far from infinity
  const std::vector<Component>& components = body.value->type.components;
  for (std::size_t c = 0; c < components.size(); ++c) {
    const Scalar scalar = components[c].scalar;
    const Expr& value = component_of(*body.value, c);
    if (is_float(scalar)) continue;
    const bool literal = value.op == ScalarOp::constant && std::abs(value.literal.i) < small;
    if (scalar != Scalar::i64 || !literal) return false;
  }
  return true;
}

}  // namespace kasen
