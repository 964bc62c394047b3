// Tokens of the language (docs/language.md, "Lexical form").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/syntax/source.h"

namespace kasen::lang {

enum class TokenKind { end, newline, name, integer, real, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;    // of numbers: the digits, without the suffix
  std::string suffix;  // of numbers: "", "i64", "i32", "f64", "f32"
  Mark mark;

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  [[nodiscard]] bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// The tokens; the last one has kind `end`. Newlines inside ( ) and [ ] are left out, and `;` is a newline. Brackets are
// matched here, so that a forgotten one is reported where it was opened. Throws UserError(bad_input).
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, const Source& source);

}  // namespace kasen::lang
