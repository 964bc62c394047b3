// Scalar expressions in the IR's text. They are fully typed, so a printed expression parses to the same tree.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/lex/lexer.h"

namespace kasen {

[[nodiscard]] std::string print_expression(const Expr& e, const std::vector<ScalarParam>& params);
[[nodiscard]] Expr parse_expression(Lexer& lexer, const std::vector<ScalarParam>& params);
[[nodiscard]] ElementType parse_element_type(Lexer& lexer, const Module& module);
// A literal in the form of literal_text; a minus sign may precede it.
struct Literal {
  Scalar scalar = Scalar::i64;
  Word value{};
};
[[nodiscard]] Literal parse_literal(Lexer& lexer);
// A name in quotes, with \" and \\ for " and backslash.
[[nodiscard]] std::string quoted_text(std::string_view text);
[[nodiscard]] std::int64_t parse_integer(Lexer& lexer, std::string_view what);  // not negative

}  // namespace kasen
