#include "libcore/lex/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kasen {
namespace {

// Not the C library's: those read the locale.
bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool name_char(char c) { return name_start(c) || digit(c); }

constexpr std::string_view sigils = "%$@~";
constexpr std::array sigil_kinds{TokenKind::value, TokenKind::loop, TokenKind::state, TokenKind::buffer};
constexpr std::array<std::string_view, 9> pairs{"->", "==", "!=", "<=", ">=", "&&", "||", "//", "**"};

}  // namespace

Lexer::Lexer(const SourceText& source, const LexicalRules& rules)
    : text_(source.text),
      source_(&source),
      rules_(&rules),
      line_(source.first_line),
      line_ends_(rules.line_ends),
      strings_(rules.sigils) {
  scan();
}

Token Lexer::take() {
  const Token token = token_;
  scan();
  return token;
}

bool Lexer::at(std::string_view wanted) const { return token_.is(wanted) || token_.is_name(wanted); }

bool Lexer::accept(std::string_view wanted) {
  if (!at(wanted)) return false;
  scan();
  return true;
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) fail_at(token_, fmt::format("expected {}", what), fmt::format("found '{}'", token_.text));
  return take();
}

void Lexer::expect(std::string_view wanted) {
  if (!accept(wanted)) fail_at(token_, fmt::format("expected '{}'", wanted), fmt::format("found '{}'", token_.text));
}

size_t Lexer::name_end(size_t from) const {
  while (name_char(char_at(from))) ++from;
  return from;
}

size_t Lexer::digits_end(size_t from) const {
  while (digit(char_at(from))) ++from;
  return from;
}

void Lexer::begin_line() {
  ++line_;
  line_start_ = place_ + 1;
}

void Lexer::skip_blanks() {
  for (;; ++place_) {
    const char c = char_at(place_);
    if (c == '#') {
      place_ = std::min(text_.find('\n', place_), text_.size()) - 1;
    } else if (c == '\n' && !line_ends_) {
      begin_line();
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

void Lexer::cut(size_t start, size_t stop) {
  token_.text = text_.substr(start, stop - start);
  place_ = stop;
}

// The parser checks the suffix and the value.
void Lexer::scan_number(bool component) {
  size_t stop = digits_end(place_);
  token_.kind = TokenKind::number;
  if (component) return cut(place_, stop);
  const char behind = char_at(stop + 1);
  if (char_at(stop) == '.' && (digit(behind) || (rules_->points && behind != '.'))) {
    token_.real = true;
    stop = digits_end(stop + 1);
  }
  const size_t sign = char_at(stop + 1) == '-' || char_at(stop + 1) == '+' ? 2 : 1;
  if (rules_->exponents.find(char_at(stop)) != std::string_view::npos && digit(char_at(stop + sign))) {
    token_.real = true;
    stop = digits_end(stop + sign);
  }
  const size_t end = name_end(stop);
  token_.suffix = text_.substr(stop, end - stop);
  cut(place_, end);
}

void Lexer::scan_string() {
  token_.kind = TokenKind::string;
  size_t stop = place_ + 1;
  while (char_at(stop) != '"') {
    if (stop >= text_.size() || text_[stop] == '\n') fail_at(token_, "a string without its closing quote");
    stop += text_[stop] == '\\' ? 2 : 1;
  }
  cut(place_ + 1, stop);
  ++place_;
}

void Lexer::scan_symbol() {
  token_.kind = TokenKind::symbol;
  const std::string_view two = text_.substr(place_, 2);
  const bool pair = std::find(pairs.begin(), pairs.end(), two) != pairs.end() || (rules_->points && two == "..");
  cut(place_, place_ + (pair ? 2 : 1));
}

void Lexer::scan_sigil(TokenKind kind) {
  token_.kind = kind;
  const size_t start = place_ + 1;
  size_t stop = char_at(start) == '?' ? start + 1 : name_end(start);
  while (kind == TokenKind::value && char_at(stop) == '.' && name_start(char_at(stop + 1))) stop = name_end(stop + 1);
  cut(start, stop);
}

void Lexer::scan() {
  const bool component = rules_->points && token_.is(".");
  skip_blanks();
  token_ = Token{TokenKind::end, false, {}, {}, {line_, static_cast<int>(place_ - line_start_) + 1}};
  if (place_ >= text_.size()) return;
  const char c = text_[place_];
  if (c == '\n') {
    token_.kind = TokenKind::newline;
    begin_line();
    return cut(place_, place_ + 1);
  }
  if (name_start(c)) {
    token_.kind = TokenKind::name;
    return cut(place_, name_end(place_));
  }
  if (digit(c)) return scan_number(component);
  if (c == '"' && strings_) return scan_string();
  if (!rules_->sigils) return scan_symbol();
  const size_t sigil = sigils.find(c);
  const char behind = char_at(place_ + 1);
  if (sigil == std::string_view::npos || (!name_char(behind) && !(c == '@' && behind == '?'))) return scan_symbol();
  scan_sigil(sigil_kinds[sigil]);
}

}  // namespace kasen
