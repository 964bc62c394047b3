// Tokens of the IR's text (docs/ir.md). The parser needs only one token of lookahead.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace kasen {

enum class TokenKind : unsigned char {
  name,    // letters, digits, _ and . after a letter or _
  value,   // %name
  loop,    // $0: a loop variable of a scalar function
  state,   // @part
  buffer,  // ~b3
  number,  // 12, 1.5e-3, with a suffix i32 or f32
  string,  // "text", with \" and \\ for " and backslash
  symbol,  // punctuation, longest first
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // without the leading % $ @ ~ and without quotes
  int line = 1, column = 1;
};

class TextLexer {
 public:
  TextLexer(std::string_view text, std::string file, int first_line);

  [[nodiscard]] const Token& peek() const { return token_; }
  Token take();
  [[nodiscard]] bool at(std::string_view symbol_or_name) const;
  bool accept(std::string_view symbol_or_name);
  Token expect(TokenKind kind, std::string_view what);
  void expect(std::string_view symbol_or_name);
  // Throws UserError(bad_input) at this token, with its source line.
  [[noreturn]] void fail_at(const Token& token, std::string what, std::string why = {}, std::string remedy = {}) const;
  [[nodiscard]] Location where(const Token& token) const;
  [[nodiscard]] std::string line_text(int line) const;

 private:
  void scan();
  void skip_blanks();
  [[nodiscard]] char char_at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  size_t scan_name(size_t from) const;
  size_t scan_number(size_t from) const;

  std::string_view text_;
  std::string file_;
  int first_line_;
  size_t place_ = 0;
  int line_;
  size_t line_start_ = 0;
  Token token_;
};

}  // namespace kasen
