// Statements that give names values, and operators spelled as words.
#include <algorithm>
#include <array>
#include <utility>

#include "libcore/syntax/parser.h"

namespace kasen::lang {

const ScalarOpRow* word_operator(const Token& token) {
  if (token.is_name("and")) return &row(ScalarOp::logical_and);
  if (token.is_name("or")) return &row(ScalarOp::logical_or);
  return token.is("**") ? find_scalar_symbol("^", 2) : nullptr;
}

// A program may have a value of the name `not`. `not (a)` is a call of the operator by its name.
bool Parser::at_not() const {
  if (!peek().is_name("not")) return false;
  const Token& behind = peek(1);
  constexpr std::array<std::string_view, 9> goes_on{"then", "else", "likely", "expect", "unroll",
                                                    "as",   "and",  "or",     "over"};
  const bool name =
      behind.kind == TokenKind::name && std::find(goes_on.begin(), goes_on.end(), behind.text) == goes_on.end();
  return name || behind.kind == TokenKind::number || behind.is("!") || behind.is("(");
}

Statement Parser::push() {
  Statement s = begin(StatementKind::push);
  expect("(", "and the list");
  s.name = new_name("the name of a list");
  expect(",", "and the newest array");
  s.value.push_back(expression());
  expect(")", "after the array");
  return s;
}

// `, R =`: the value is a call that gives several arrays.
bool Parser::names_follow() const {
  std::size_t ahead = 0;
  while (peek(ahead).is(",") && peek(ahead + 1).kind == TokenKind::name) ahead += 2;
  return ahead > 0 && peek(ahead).is("=") && peek(ahead + 1).kind == TokenKind::name && peek(ahead + 2).is("(");
}

Statement Parser::assignment() {
  if (!peek(1).is("=")) refuse_statement_word();
  Statement s = named(StatementKind::assign, "a name");
  if (accept("[")) {
    s.kind = StatementKind::put;
    do s.index.push_back(index_expression(true));
    while (accept(","));
    expect("]", "after the index");
  } else if (accept(":")) {
    s.type.push_back(type());
  } else if (names_follow()) {
    s.names = {s.name};
    while (accept(",")) s.names.push_back(new_name("a name"));
  }
  if (const ScalarOpRow* const changes = s.names.empty() && s.type.empty() ? changing_operator() : nullptr) {
    change(s, *changes);
    return s;
  }
  if (!peek().is("=")) refuse_assignment(s.name);
  next();
  skip_newlines();
  s.value.push_back(expression());
  return s;
}

// The operator of `x += e` and its like; null: there is none.
const ScalarOpRow* Parser::changing_operator() const {
  const Token &sign = peek(), &equals = peek(1);
  const bool adjacent = equals.is("=") && equals.mark.line == sign.mark.line &&
                        equals.mark.column == sign.mark.column + static_cast<int>(sign.text.size());
  if (!adjacent) return nullptr;
  constexpr std::array<std::string_view, 7> signs{"+", "-", "*", "/", "//", "%", "**"};
  if (std::find(signs.begin(), signs.end(), sign.text) == signs.end()) return nullptr;
  const ScalarOpRow* const word = word_operator(sign);
  return word != nullptr ? word : operator_row(sign, 2);
}

// `x += e` is `x = x + (e)`, and `l[i] += e` is `l[i] = l[i] + (e)`.
void Parser::change(Statement& s, const ScalarOpRow& row) {
  const Mark mark = next().mark;
  next();  // =
  skip_newlines();
  Node before = make(NodeKind::name, s.mark);
  before.text = s.name.text;
  if (s.kind == StatementKind::put) {
    std::vector<Node> args{std::move(before)};
    args.insert(args.end(), s.index.begin(), s.index.end());
    before = make(NodeKind::index, s.mark, std::move(args));
  }
  std::vector<Node> operands{std::move(before), expression()};
  s.value.push_back(make(NodeKind::operation, mark, std::move(operands)));
  s.value.back().op = row.op;
}

}  // namespace kasen::lang
