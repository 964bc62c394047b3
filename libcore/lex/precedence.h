// Precedence climbing over the rows of scalar_operators.def.
#pragma once

#include <utility>
#include <vector>

#include "libcore/lex/lexer.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// Counts one open level of recursion.
class Nesting {
 public:
  explicit Nesting(int& level) : level_(level) { ++level_; }
  ~Nesting() { --level_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& level_;
};

// An operator between two operands, or before one. Strengths leave room between the table's precedences for a text's
// own operators.
struct Infix {
  const ScalarOpRow* row = nullptr;  // null: one of the text's own
  int strength = 0;                  // 0: none
};

[[nodiscard]] inline int strength(const ScalarOpRow& row) { return 2 * row.precedence; }

// The row of the token's symbol as an infix (arity 2) or prefix (arity 1) operator, or null.
[[nodiscard]] inline const ScalarOpRow* operator_row(const Token& token, int arity) {
  return token.kind == TokenKind::symbol ? find_scalar_symbol(token.text, arity) : nullptr;
}

// As the table has them, between operands and before one.
[[nodiscard]] inline Infix infix_of(const Token& token) {
  const ScalarOpRow* row = operator_row(token, 2);
  return row == nullptr ? Infix{} : Infix{row, strength(*row)};
}
[[nodiscard]] inline Infix prefix_of(const Token& token) {
  const ScalarOpRow* row = operator_row(token, 1);
  return row == nullptr ? Infix{} : Infix{row, strength(*row)};
}

// Parses an expression whose operators have at least the strength `lowest`. Comparisons do not chain. The grammar
// gives:
//   nested()                    a Nesting; fails if there are too many levels
//   prefix()                    the prefix operator here, or none
//   infix()                     the infix operator here
//   refuse_chain()              fails at a comparison of a comparison, or leaves it to what follows the expression
//   take()                      the prefix operator's token
//   take_infix(links)           the infix operator's token; `links` counts the operators of one chain
//   leaf()                      an operand
//   built(row, token, operands) a node
template <class Grammar>
auto climb(Grammar& grammar, int lowest) -> decltype(grammar.leaf()) {
  using Node = decltype(grammar.leaf());
  const Nesting level = grammar.nested();
  const auto operand = [&grammar] {
    const Infix op = grammar.prefix();
    if (op.row == nullptr) return grammar.leaf();
    const Token token = grammar.take();
    std::vector<Node> operands;
    operands.push_back(climb(grammar, op.strength));
    return grammar.built(op.row, token, std::move(operands));
  };
  Node left = operand();
  bool compared = false;
  for (int links = 1;; ++links) {
    const Infix op = grammar.infix();
    if (op.strength == 0 || op.strength < lowest) return left;
    const bool compares = op.row != nullptr && op.row->result == ResultRule::compare;
    if (compares && compared) {
      grammar.refuse_chain();
      return left;
    }
    compared = compared || compares;
    const Token token = grammar.take_infix(links);
    const bool right = op.row != nullptr && binds_right(*op.row);
    std::vector<Node> operands;  // a list in braces would copy all that is to the left, at each link
    operands.push_back(std::move(left));
    operands.push_back(climb(grammar, right ? op.strength : op.strength + 1));
    left = grammar.built(op.row, token, std::move(operands));
  }
}

}  // namespace kasen
