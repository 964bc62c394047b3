// Prints scalar expressions with as few parentheses as the grammar needs.
#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "libcore/text/scalar.h"

namespace kasen {
namespace {

constexpr int outermost = 0;  // if-then-else
constexpr int unary = 6;
constexpr int primary = 100;

bool negative_literal(const Expr& e) {
  if (e.op != ScalarOp::constant) return false;
  return is_float(e.type.scalar()) ? std::signbit(e.literal.f) && !std::isnan(e.literal.f) : e.literal.i < 0;
}

int precedence(const Expr& e) {
  if (negative_literal(e)) return unary;
  if (e.op == ScalarOp::select) return outermost;
  const bool called = e.op == ScalarOp::neg && e.args[0].op == ScalarOp::constant;
  const int own = row(e.op).precedence;
  return own == 0 || called ? primary : own;
}

struct ExpressionPrinter {
  const std::vector<ScalarParam>& params;

  std::string at(const Expr& e, int least) const {
    const std::string text = print(e);
    return precedence(e) < least ? '(' + text + ')' : text;
  }

  std::string list(const std::vector<Expr>& args) const {
    std::string text;
    for (const Expr& arg : args) text += (text.empty() ? "" : ", ") + print(arg);
    return text;
  }

  // Infix operators associate to the left, ^ to the right; comparisons do not chain.
  std::string infix(const Expr& e) const {
    const ScalarOpRow& r = row(e.op);
    const bool right = binds_right(r);
    const bool chain = r.result != ResultRule::compare;
    const int left_least = right || !chain ? r.precedence + 1 : r.precedence;
    const int right_least = right ? r.precedence : r.precedence + 1;
    return fmt::format("{} {} {}", at(e.args[0], left_least), r.symbol, at(e.args[1], right_least));
  }

  // A minus before a number is part of it: -(2.0 ^ x) is not -2.0 ^ x.
  std::string prefix(const Expr& e) const {
    const std::string operand = at(e.args[0], unary);
    const bool number = std::isdigit(static_cast<unsigned char>(operand[0])) != 0 || operand.starts_with("inf");
    const std::string_view symbol = row(e.op).symbol;
    return e.op == ScalarOp::neg && number ? fmt::format("{}({})", symbol, operand)
                                           : fmt::format("{}{}", symbol, operand);
  }

  std::string print(const Expr& e) const {
    const ScalarOpRow& r = row(e.op);
    switch (e.op) {
      case ScalarOp::constant:
        return literal_text(e.type.scalar(), e.literal);
      case ScalarOp::param:
        return params[static_cast<size_t>(e.index)].name;
      case ScalarOp::loop_var:
        return fmt::format("${}", e.index);
      case ScalarOp::select:
        return fmt::format("if {} then {} else {}", print(e.args[0]), print(e.args[1]), print(e.args[2]));
      case ScalarOp::cast:
        return fmt::format("{}({})", scalar_name(e.type.scalar()), print(e.args[0]));
      case ScalarOp::make_tuple:
        return fmt::format("tuple({})", list(e.args));
      case ScalarOp::component:
        return fmt::format("{}.{}", at(e.args[0], primary), e.index);
      case ScalarOp::element:
        return fmt::format("{}[{}]", at(e.args[0], primary), print(e.args[1]));
      case ScalarOp::build:
        return fmt::format("[${} in {}: {}]", e.index, e.count, print(e.args[0]));
      case ScalarOp::sum_over:
      case ScalarOp::prod_over:
      case ScalarOp::min_over:
      case ScalarOp::max_over:
        return fmt::format("{}(${} in {}: {})", r.name, e.index, e.count, print(e.args[0]));
      default:
        break;
    }
    if (r.precedence == 0 || precedence(e) == primary) return fmt::format("{}({})", r.name, list(e.args));
    return r.arity == 1 ? prefix(e) : infix(e);
  }
};

}  // namespace

std::string print_expression(const Expr& e, const std::vector<ScalarParam>& params) {
  return ExpressionPrinter{params}.print(e);
}

}  // namespace kasen
