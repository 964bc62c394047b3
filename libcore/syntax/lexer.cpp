#include "libcore/syntax/lexer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 31> symbols{
    "||", "&&", "==", "!=", "<=", ">=", "//", "->", "..", "<", ">", "+", "-", "*", "/", "%",
    "!",  "^",  "@",  "'",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ";", ":", ".",
};

// Not the C library's functions, which read the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  Lexer(std::string_view text, const Source& source) : text_(text), source_(source) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    if (!open_.empty()) unclosed("at the end of the file");
    add(TokenKind::newline, 0);
    add(TokenKind::end, 0);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  [[nodiscard]] bool in_brackets() const { return !open_.empty() && !open_.back().is("{"); }

  void step() {
    const char c = peek();
    if (c == '\n') return newline();
    if (c == ' ' || c == '\t' || c == '\r') return advance(1);
    if (c == '#') {
      while (at_ < text_.size() && peek() != '\n') advance(1);
      return;
    }
    if (is_digit(c)) return number();
    if (is_letter(c)) return name();
    symbol();
  }

  void advance(size_t by) {
    at_ += by;
    mark_.column += static_cast<int>(by);
  }

  void add(TokenKind kind, size_t length) {
    tokens_.push_back(Token{kind, std::string(text_.substr(at_, length)), {}, mark_});
    advance(length);
  }

  void newline() {
    if (!in_brackets()) add(TokenKind::newline, 0);
    ++at_;
    ++mark_.line;
    mark_.column = 1;
  }

  void name() {
    size_t length = 1;
    while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
    add(TokenKind::name, length);
  }

  size_t digits(size_t from) const {
    while (is_digit(peek(from))) ++from;
    return from;
  }

  // After a point (`t.0`) only an integer can follow; `0..m` is an integer and a range.
  void number() {
    size_t length = digits(0);
    bool real = false;
    const bool component = !tokens_.empty() && tokens_.back().is(".");
    if (!component && peek(length) == '.' && peek(length + 1) != '.') {
      real = true;
      length = digits(length + 1);
    }
    const size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+' ? 2 : 1;
    if (!component && (peek(length) == 'e' || peek(length) == 'E') && is_digit(peek(length + sign))) {
      real = true;
      length = digits(length + sign);
    }
    add(real ? TokenKind::real : TokenKind::integer, length);
    if (is_letter(peek()) && !component) suffix(real);
  }

  void suffix(bool real) {
    size_t length = 1;
    while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
    Token& token = tokens_.back();
    token.suffix = text_.substr(at_, length);
    const bool integral = token.suffix == "i64" || token.suffix == "i32";
    const bool floating = token.suffix == "f64" || token.suffix == "f32";
    if (!floating && !(integral && !real)) {
      source_.fail(token.mark, fmt::format("'{}{}' is not a number", token.text, token.suffix.substr(0, 20)),
                   "after the digits only i64, i32 (integers), f64 or f32 may follow",
                   "put a space or an operator between number and name");
    }
    advance(length);
  }

  void symbol() {
    for (const std::string_view s : symbols) {
      if (!text_.substr(at_).starts_with(s)) continue;
      bracket(s);
      if (s == ";" && !in_brackets()) return add(TokenKind::newline, 1);
      return add(TokenKind::symbol, s.size());
    }
    const auto byte = static_cast<unsigned char>(peek());
    const std::string shown = byte > 32 && byte < 127 ? fmt::format("'{}'", peek()) : fmt::format("byte {}", byte);
    const std::string_view remedy = character_remedy(peek());
    source_.fail(mark_, fmt::format("{} is not part of the language", shown), "programs are plain ASCII text",
                 remedy.empty() ? "remove it, or make it a comment with #" : std::string(remedy));
  }

  // `;` inside ( ) and [ ] only occurs in types: `[f64; 3]`.
  void bracket(std::string_view s) {
    if (s == "(" || s == "[" || s == "{") {
      if (s == "{" && in_brackets()) unclosed(fmt::format("before the '{{' on line {}", mark_.line));
      open_.push_back(Token{TokenKind::symbol, std::string(s), {}, mark_});
      return;
    }
    if (s != ")" && s != "]" && s != "}") return;
    const std::string_view opener = s == ")" ? "(" : s == "]" ? "[" : "{";
    if (open_.empty()) source_.fail(mark_, fmt::format("'{}' without its '{}'", s, opener));
    if (!open_.back().is(opener)) unclosed(fmt::format("before the '{}' on line {}", s, mark_.line));
    open_.pop_back();
  }

  [[noreturn]] void unclosed(const std::string& until) {
    source_.fail(open_.back().mark, fmt::format("'{}' is never closed", open_.back().text),
                 "its counterpart is missing " + until);
  }

  std::string_view text_;
  const Source& source_;
  size_t at_ = 0;
  Mark mark_{1, 1};
  std::vector<Token> open_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const Source& source) { return Lexer(text, source).run(); }

}  // namespace kasen::lang
