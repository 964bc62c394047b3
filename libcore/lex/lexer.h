// Tokens of the program's text (docs/language.md, "Lexical form") and of the IR's (docs/ir.md).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "libcore/lex/source.h"

namespace kasen {

enum class TokenKind : unsigned char {
  name,    // letters, digits and _ after a letter or _
  number,  // 12, 1.5e-3, 2i32
  string,  // "text", with \" and \\ for " and backslash
  symbol,  // punctuation, longest first
  newline,
  end,
  // Names behind a sigil:
  value,   // %name, %function.name
  loop,    // $0: a loop variable of a scalar function
  state,   // @part
  buffer,  // ~b3
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool real = false;        // of numbers: with a fraction or an exponent
  std::string_view text;    // without the sigil and without quotes
  std::string_view suffix;  // of numbers: the letters at the end of `text`
  Mark mark;

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  [[nodiscard]] bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
  [[nodiscard]] std::string_view digits() const { return text.substr(0, text.size() - suffix.size()); }
};

// The differences between the two texts.
struct LexicalRules {
  std::string_view exponents;  // letters that begin an exponent
  bool points = false;         // `1.` is a number, `..` a symbol, and `t.0.1` holds two integers
  bool sigils = false;         // the text has names behind sigils, and strings
  bool line_ends = false;      // line ends are tokens
};

// One token of lookahead.
class Lexer {
 public:
  Lexer(const SourceText& source, const LexicalRules& rules);

  [[nodiscard]] const SourceText& source() const { return *source_; }
  [[nodiscard]] const Token& peek() const { return token_; }
  Token take();
  [[nodiscard]] bool at(std::string_view symbol_or_name) const;
  bool accept(std::string_view symbol_or_name);
  Token expect(TokenKind kind, std::string_view what);
  void expect(std::string_view symbol_or_name);
  void heed_line_ends(bool heed) { line_ends_ = heed; }  // from the next token on
  void heed_strings(bool heed) { strings_ = heed; }      // the same; an IR's text always has them
  // Throws UserError(bad_input) at this token, with its source line.
  [[noreturn]] void fail_at(const Token& token, std::string what, std::string why = {}, std::string remedy = {}) const {
    source_->fail(token.mark, std::move(what), std::move(why), std::move(remedy));
  }

 private:
  void scan();
  void scan_number(bool component);
  void scan_string();
  void scan_symbol();
  void scan_sigil(TokenKind kind);
  void begin_line();
  void skip_blanks();
  [[nodiscard]] char char_at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  [[nodiscard]] size_t name_end(size_t from) const;
  [[nodiscard]] size_t digits_end(size_t from) const;
  void cut(size_t start, size_t stop);

  std::string_view text_;
  const SourceText* source_;
  const LexicalRules* rules_;
  size_t place_ = 0;
  int line_;
  size_t line_start_ = 0;
  bool line_ends_;
  bool strings_;
  Token token_;
};

}  // namespace kasen
