#include "libcore/lang/terms/prelude.h"

#include <algorithm>

namespace kasen::lang {
namespace {

// x - x is 0 only for a finite number. For integers the ends of the type are the infinities (docs/language.md).
constexpr const char* text = R"(
fn square(x) = x * x
fn reciprocal(x) = 1 / x
fn sign(x) = if x > 0 then 1 else if x < 0 then -1 else x
fn trunc(x) = if x < 0 then ceil(x) else floor(x)
fn round(x) {
  below = floor(x)
  part = x - below
  if part < 0.5 then below else if part > 0.5 then below + 1 else if below % 2 == 0 then below else below + 1
}
fn isnan(x) = x != x
fn isinf(x) = x == x && x - x != 0
fn isfinite(x) = x - x == 0
fn copysign(x, y) = if y < 0 || 1 / y < 0 then -abs(x) else abs(x)
fn hypot(x, y) {
  large = max(abs(x), abs(y))
  small = min(abs(x), abs(y))
  if large == 0 || large - large != 0 then large else large * sqrt(1 + square(small / large))
}
fn atan2(y, x) {
  angle = atan(y / x)
  up = y > 0 || 1 / y > 0
  right = x > 0 || 1 / x > 0
  turned = if up then angle + 3.141592653589793 else angle - 3.141592653589793
  flat = if right then y else if up then 3.141592653589793 + y else y - 3.141592653589793
  steep = if y > 0 then 1.5707963267948966 else if y < 0 then -1.5707963267948966 else y
  if x > 0 then angle else if x < 0 then turned else if x != 0 then x else if y == 0 then flat else steep
}
)";

void forget_marks(Node& node) {
  node.mark = {};
  for (Node& arg : node.args) forget_marks(arg);
}

void forget_marks(Statement& statement) {
  statement.mark = statement.name.mark = {};
  for (Node& value : statement.value) forget_marks(value);
  for (Statement& inner : statement.body) forget_marks(inner);
}

std::vector<Statement> parsed() {
  std::vector<Statement> statements = parse_program(SourceText{text, "prelude"});
  for (Statement& statement : statements) forget_marks(statement);
  return statements;
}

}  // namespace

const std::vector<Statement>& prelude() {
  static const std::vector<Statement> statements = parsed();
  return statements;
}

bool is_of_prelude(const Statement& fn) {
  const std::vector<Statement>& all = prelude();
  return &fn >= all.data() && &fn < all.data() + all.size();
}

}  // namespace kasen::lang
