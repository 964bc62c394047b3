// The tokens of a program: what a lexer finds, checked, and brackets matched.
#include <fmt/format.h>

#include "libcore/syntax/habits.h"
#include "libcore/syntax/parser.h"

namespace kasen::lang {
namespace {

constexpr LexicalRules rules{.exponents = "eE", .points = true, .line_ends = true};
constexpr std::string_view characters = "<>+-*/%!^@'=()[]{},;:.";

class Tokens {
 public:
  explicit Tokens(const SourceText& source) : source_(source), lexer_(source, rules) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (lexer_.peek().kind != TokenKind::end) {
      Token token = lexer_.peek();
      if (token.kind == TokenKind::number) check_suffix(token);
      if (token.kind == TokenKind::symbol) check_symbol(token);
      if (token.is(";") && !in_brackets()) token.kind = TokenKind::newline;
      note_head(token);
      lexer_.heed_line_ends(!in_brackets());
      lexer_.heed_strings(may_be_text_behind(token));
      lexer_.take();
      tokens.push_back(token);
    }
    if (!open_.empty()) unclosed("at the end of the file");
    Token end = lexer_.peek();
    end.kind = TokenKind::newline;
    tokens.push_back(end);
    tokens.push_back(lexer_.peek());
    return tokens;
  }

 private:
  // Names of files stand behind `use`, and behind the `=` of an input or a param. Nothing else has texts.
  [[nodiscard]] bool may_be_text_behind(const Token& token) {
    uses_ = token.is_name("use") || (uses_ && (token.kind == TokenKind::string || token.is(",")));
    if (token.kind == TokenKind::newline) declares_ = false;
    if (token.is_name("input") || token.is_name("param")) declares_ = true;
    return uses_ || (declares_ && token.is("="));
  }

  // Remembers the end of a line that begins a block and has no '{': a '}' too many is that one's.
  void note_head(const Token& token) {
    if (token.kind == TokenKind::newline) {
      if (heads_) headless_ = token.mark;
      heads_ = false;
      begins_ = true;
      return;
    }
    if (begins_) heads_ = token.is_name("if") || token.is_name("while") || token.is_name("for");
    if (token.is("{") || token.is_name("then")) heads_ = false;
    begins_ = false;
  }

  [[nodiscard]] bool in_brackets() const { return !open_.empty() && !open_.back().is("{"); }

  void check_suffix(const Token& number) const {
    const std::string_view suffix = number.suffix;
    const bool integral = suffix.empty() || suffix == "i64" || suffix == "i32";
    const bool floating = suffix.empty() || suffix == "f64" || suffix == "f32";
    if (floating || (integral && !number.real)) return;
    if (suffix == "j" || suffix == "J") {
      source_.fail(number.mark, fmt::format("'{}{}' is not a number", number.digits(), suffix),
                   "there are no complex numbers", "compute with two arrays, the real and the imaginary parts");
    }
    source_.fail(number.mark, fmt::format("'{}{}' is not a number", number.digits(), suffix.substr(0, 20)),
                 "after the digits only i64, i32 (whole numbers), f64 or f32 may follow",
                 "put a space or an operator between number and name");
  }

  // `;` inside ( ) and [ ] only stands in types: `[f64; 3]`.
  void check_symbol(const Token& token) {
    const std::string_view s = token.text;
    if (s.size() == 1 && characters.find(s[0]) == std::string_view::npos) refuse_character(token);
    if (s == "(" || s == "[" || s == "{") {
      if (s == "{" && in_brackets()) unclosed(fmt::format("before the '{{' on line {}", token.mark.line));
      open_.push_back(token);
      return;
    }
    if (s != ")" && s != "]" && s != "}") return;
    const std::string_view opener = s == ")" ? "(" : s == "]" ? "[" : "{";
    if (open_.empty() && s == "}" && headless_.line > 0) {
      source_.fail(headless_, "the block that begins here has no '{'",
                   fmt::format("the '}}' on line {} is one too many", token.mark.line),
                   "write the brace at the end of this line");
    }
    if (open_.empty()) source_.fail(token.mark, fmt::format("'{}' without its '{}'", s, opener));
    if (!open_.back().is(opener)) unclosed(fmt::format("before the '{}' on line {}", s, token.mark.line));
    open_.pop_back();
  }

  [[nodiscard]] bool ends_line(const Token& token) const {
    const auto at = static_cast<size_t>(token.text.data() - source_.text.data()) + token.text.size();
    const size_t next = source_.text.find_first_not_of(" \t\r", at);
    return next == std::string_view::npos || source_.text[next] == '\n';
  }

  [[noreturn]] void refuse_character(const Token& token) const {
    const auto byte = static_cast<unsigned char>(token.text[0]);
    const std::string shown = byte > 32 && byte < 127 ? fmt::format("'{}'", token.text) : fmt::format("byte {}", byte);
    const std::string_view remedy = character_remedy(token.text[0], ends_line(token));
    source_.fail(token.mark, fmt::format("{} is not part of the language", shown), "programs are plain ASCII text",
                 remedy.empty() ? "remove it, or make it a comment with #" : std::string(remedy));
  }

  [[noreturn]] void unclosed(const std::string& until) const {
    source_.fail(open_.back().mark, fmt::format("'{}' is never closed", open_.back().text),
                 "its counterpart is missing " + until);
  }

  const SourceText& source_;
  Lexer lexer_;
  std::vector<Token> open_;
  bool begins_ = true, heads_ = false;  // a line; with a word that begins a block
  Mark headless_;                       // line 0: there is none
  bool uses_ = false;
  bool declares_ = false;  // within the statement of an input or a param
};

}  // namespace

std::vector<Token> tokenize(const SourceText& source) { return Tokens(source).run(); }

}  // namespace kasen::lang
