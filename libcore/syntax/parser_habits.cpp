// Errors for text that the parser does not understand, with the form to write instead.
#include <fmt/format.h>

#include <array>
#include <string>

#include "libcore/syntax/habits.h"
#include "libcore/syntax/parser.h"

namespace kasen::lang {
namespace {

std::string shown(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the program";
  if (token.kind == TokenKind::newline) return "the end of the statement";
  return fmt::format("'{}{}'", token.digits().substr(0, 60), token.suffix);
}

bool is_arithmetic(const Token& token) {
  const ScalarOpRow* found = operator_row(token, 2);
  return found != nullptr && (found->result == ResultRule::same || found->result == ResultRule::divide ||
                              found->result == ResultRule::real);
}

}  // namespace

void Parser::unexpected(std::string_view wanted, std::string_view remedy) const {
  source_.fail(peek().mark, fmt::format("{} is not expected here", shown(peek())),
               fmt::format("{} should follow", wanted), remedy.empty() ? advice() : std::string(remedy));
}

// True if `//` precedes this position in its line: other languages write comments so.
bool Parser::behind_division() const {
  for (size_t i = at_; i > 0 && tokens_[i - 1].mark.line == peek().mark.line; --i) {
    if (tokens_[i - 1].is("//")) return true;
  }
  return false;
}

std::string Parser::advice() const {
  const Token& before = tokens_[at_ == 0 ? 0 : at_ - 1];
  if (peek().is("=") && is_keyword(before.text)) return {};  // `list = 3`
  const bool operand = peek().kind == TokenKind::name || peek().kind == TokenKind::number;
  if (operand && before.kind == TokenKind::name && find_scalar_op(before.text, 1) != nullptr) {
    return fmt::format("write {}({}): a call has brackets", before.text, peek().text);
  }
  if (peek().kind == TokenKind::name && behind_division()) {
    return "a comment begins with #; // divides and rounds down";
  }
  return std::string(sign_remedy(
      {before.text, peek().text, peek(1).text, peek(1).kind == TokenKind::newline, before.kind == TokenKind::number}));
}

// Refuses a line that does not begin with a word.
void Parser::refuse_beginning() const {
  const bool comment = peek().is("//") || (peek().is("/") && peek(1).is("*"));
  if (is_arithmetic(peek()) && !comment) {
    unexpected("a statement", peek().is("%") ? "a comment begins with #"
                                             : "end the line above with the operator: a statement continues only after "
                                               "one");
  }
  unexpected("a statement", peek().is("{") ? "write the brace at the end of the line above" : "");
}

void Parser::refuse_statement_word() const {
  const Token& word = peek();
  const std::string_view remedy = statement_remedy(word.text);
  const bool begins = word.kind == TokenKind::name && !remedy.empty();
  const bool own = peek(1).is("[") || peek(1).is(":") || is_arithmetic(peek(1));  // a name of the program
  if (!begins || (own && !is_keyword(word.text))) return;
  source_.fail(word.mark, fmt::format("'{}' begins no statement", word.text), "it is no word of the language",
               std::string(remedy));
}

// Refuses the text that is in place of `=` and a value.
void Parser::refuse_assignment(const NameAt& name) const {
  std::string remedy;
  if (is_arithmetic(peek()) && peek(1).is("=")) remedy = fmt::format("write {0} = {0} {1} ...", name.text, peek().text);
  if (peek().is("(")) {
    const Habit* habit = find_habit(name.text, false);
    remedy = habit != nullptr && habit->write.starts_with("output") ? habit_remedy(*habit)
                                                                    : fmt::format("write y = {}(...)", name.text);
  }
  if (peek().is(",")) remedy = "give each name its value in a statement of its own";
  if (peek().is(".")) remedy = fmt::format("write {} = ...: functions give results and change nothing", name.text);
  source_.fail(peek().mark, fmt::format("{} is not expected here", shown(peek())),
               fmt::format("a statement that begins with '{}' goes on with '=' and a value", name.text),
               remedy.empty() ? advice() : remedy);
}

// `cg(A, b, most=5)`
void Parser::refuse_keyword() const {
  const Token& value = peek(2);
  const bool plain = value.kind == TokenKind::number || value.kind == TokenKind::name;
  const std::string shown = plain ? fmt::format("'{}'", value.text.substr(0, 60)) : "the value";
  source_.fail(peek(1).mark, "'=' is not expected here",
               "arguments of a call have no names: their places tell them apart",
               fmt::format("write {} alone, in the place of the parameter '{}'", shown, peek().text.substr(0, 60)));
}

// `by a, b in G, H`, `by a in G, b in H`, `by a, by b`
void Parser::refuse_second_keys() const {
  source_.fail(
      peek().mark, "keys of two arrays", "the elements are counted along one dimension",
      "make one key of both: by i64(a) * size(H) + i64(b) in GH, with dim GH = G * H; as a table the result is "
      "reshape(s, [G, H])");
}

// `sets`: a statement gives the slice a value.
void Parser::refuse_slice(bool sets) const {
  if (sets) {
    source_.fail(peek().mark, "a slice is set", "a statement sets one element, or a whole array",
                 "write i = i64(index(N)) and y = if i < 2 then 1 else y, where the condition tells the part; or put "
                 "parts together: concat(slice(y, A), v, S)");
  }
  source_.fail(peek().mark, "a slice", "arrays meet by the names of dimensions, and the slice needs a name of its own",
               "write dim K = N[5:8] at the top, and slice(A, K); or range(A, K, i) from an index that varies on");
}

// After a point: `x.sum()`, `np.sum`, `x.shape`.
void Parser::refuse_method() const {
  const Token& word = peek();
  if (word.kind != TokenKind::name) unexpected("the number of a component (t.0), or T");
  const Habit* habit = find_habit(word.text, false);
  source_.fail(word.mark, fmt::format("'.{}' of a value", word.text.substr(0, 60)),
               "the number of a component (t.0), or T, follows a point",
               habit != nullptr ? habit_remedy(*habit)
                                : fmt::format("write {}(...): functions stand before their arguments", word.text));
}

void Parser::refuse_type() const {
  const std::string_view type = habit_type(peek().text);
  unexpected("a type (f64, f32, i64, i32, bool, null, id[N], [f64; 3] or a tuple of them)",
             type.empty() ? "" : fmt::format("write {}", type));
}

}  // namespace kasen::lang
