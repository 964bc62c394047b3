#include "libcore/text/lexer.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

namespace kasen {
namespace {

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool name_char(char c) { return name_start(c) || digit(c); }

constexpr std::array<std::string_view, 8> long_symbols{"->", "==", "!=", "<=", ">=", "&&", "||", "//"};

}  // namespace

TextLexer::TextLexer(std::string_view text, std::string file, int first_line)
    : text_(text), file_(std::move(file)), first_line_(first_line), line_(first_line) {
  scan();
}

Token TextLexer::take() {
  const Token token = token_;
  scan();
  return token;
}

bool TextLexer::at(std::string_view wanted) const {
  const bool word = token_.kind == TokenKind::symbol || token_.kind == TokenKind::name;
  return word && token_.text == wanted;
}

bool TextLexer::accept(std::string_view wanted) {
  if (!at(wanted)) return false;
  scan();
  return true;
}

Token TextLexer::expect(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) fail_at(token_, fmt::format("expected {}", what), fmt::format("found '{}'", token_.text));
  return take();
}

void TextLexer::expect(std::string_view wanted) {
  if (!accept(wanted)) fail_at(token_, fmt::format("expected '{}'", wanted), fmt::format("found '{}'", token_.text));
}

Location TextLexer::where(const Token& token) const { return {file_, token.line, token.column}; }

std::string TextLexer::line_text(int line) const {
  size_t start = 0;
  for (int at = first_line_; at < line; ++at) {
    const size_t next = text_.find('\n', start);
    if (next == std::string_view::npos) return {};
    start = next + 1;
  }
  return std::string(text_.substr(start, text_.find('\n', start) - start));
}

void TextLexer::fail_at(const Token& token, std::string what, std::string why, std::string remedy) const {
  Diagnostic d;
  d.where = where(token);
  d.what = std::move(what);
  d.why = std::move(why);
  d.remedy = std::move(remedy);
  d.source_line = line_text(token.line);
  throw UserError(ExitStatus::bad_input, std::move(d));
}

void TextLexer::skip_blanks() {
  for (;; ++place_) {
    const char c = char_at(place_);
    if (c == '\n') {
      ++line_;
      line_start_ = place_ + 1;
    } else if (c == '#') {
      while (place_ + 1 < text_.size() && text_[place_ + 1] != '\n') ++place_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

size_t TextLexer::scan_name(size_t from) const {
  while (name_char(char_at(from))) ++from;
  return from;
}

// Digits, a fraction, an exponent and a suffix; the parser checks the value.
size_t TextLexer::scan_number(size_t from) const {
  while (digit(char_at(from))) ++from;
  if (char_at(from) == '.' && digit(char_at(from + 1))) {
    ++from;
    while (digit(char_at(from))) ++from;
  }
  if (char_at(from) == 'e') {
    const size_t sign = char_at(from + 1) == '-' || char_at(from + 1) == '+' ? 1 : 0;
    if (digit(char_at(from + 1 + sign))) {
      from += 1 + sign;
      while (digit(char_at(from))) ++from;
    }
  }
  return scan_name(from);
}

void TextLexer::scan() {
  skip_blanks();
  token_ = Token{TokenKind::end, {}, line_, static_cast<int>(place_ - line_start_) + 1};
  if (place_ >= text_.size()) return;
  const char c = text_[place_];
  size_t start = place_;
  size_t stop = place_ + 1;
  if (name_start(c)) {
    token_.kind = TokenKind::name;
    stop = scan_name(place_);
  } else if (digit(c)) {
    token_.kind = TokenKind::number;
    stop = scan_number(place_);
  } else if (const size_t mark = std::string_view("%$@~").find(c);
             mark != std::string_view::npos &&
             (name_char(char_at(place_ + 1)) || (c == '@' && char_at(place_ + 1) == '?'))) {
    constexpr std::array kinds{TokenKind::value, TokenKind::loop, TokenKind::state, TokenKind::buffer};
    token_.kind = kinds[mark];
    start = place_ + 1;
    stop = char_at(start) == '?' ? start + 1 : scan_name(start);
  } else if (c == '"') {
    token_.kind = TokenKind::string;
    start = stop;
    while (char_at(stop) != '"') {
      if (stop >= text_.size() || text_[stop] == '\n') fail_at(token_, "a string without its closing quote");
      stop += text_[stop] == '\\' ? 2 : 1;
    }
    token_.text = text_.substr(start, stop - start);
    place_ = stop + 1;
    return;
  } else {
    token_.kind = TokenKind::symbol;
    for (const std::string_view symbol : long_symbols) {
      if (text_.substr(place_, symbol.size()) == symbol) stop = place_ + symbol.size();
    }
  }
  token_.text = text_.substr(start, stop - start);
  place_ = stop;
}

}  // namespace kasen
