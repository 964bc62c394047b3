// Scalar expressions in the IR's text: fully typed, so that what is printed reads back to the same tree.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/text/lexer.h"

namespace kasen {

[[nodiscard]] std::string print_expression(const Expr& e, const std::vector<ScalarParam>& params);
[[nodiscard]] Expr parse_expression(TextLexer& lexer, const std::vector<ScalarParam>& params);
[[nodiscard]] ElementType parse_element_type(TextLexer& lexer, const Module& module);
// A literal as literal_text writes it, a minus sign in front allowed.
struct Literal {
  Scalar scalar = Scalar::i64;
  Word value{};
};
[[nodiscard]] Literal parse_literal(TextLexer& lexer);
[[nodiscard]] std::int64_t parse_integer(TextLexer& lexer, std::string_view what);  // not negative

}  // namespace kasen
