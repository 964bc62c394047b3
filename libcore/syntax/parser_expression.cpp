// Expressions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "libcore/syntax/parser.h"

namespace kasen::lang {
namespace {

ScalarOp loop_op(std::string_view name) {
  if (name == "sum") return ScalarOp::sum_over;
  if (name == "prod") return ScalarOp::prod_over;
  if (name == "min") return ScalarOp::min_over;
  if (name == "max") return ScalarOp::max_over;
  return ScalarOp::constant;
}

std::vector<Node> one(Node node) {
  std::vector<Node> nodes;
  nodes.push_back(std::move(node));
  return nodes;
}

}  // namespace

Nesting Parser::nested(int& level, int limit) const {
  if (level >= limit) {
    source_.fail(peek().mark, "nested too deeply", fmt::format("at most {} levels are allowed", limit),
                 "give inner parts a name");
  }
  return Nesting(level);
}

Node Parser::make(NodeKind kind, Mark mark, std::vector<Node> args) const {
  Node node;
  node.kind = kind;
  node.mark = mark;
  for (const Node& arg : args) node.depth = std::max(node.depth, arg.depth + 1);
  if (node.depth > max_depth) {
    source_.fail(mark, "this expression is nested too deeply", fmt::format("at most {} levels are allowed", max_depth),
                 "give parts of it a name");
  }
  node.args = std::move(args);
  return node;
}

Node Parser::lone_expression() {
  skip_newlines();
  Node node = expression();
  skip_newlines();
  if (peek().kind != TokenKind::end) unexpected("nothing");
  return node;
}

// A line may end after an operator between two operands.
struct Parser::Grammar {
  Parser& parser;

  [[nodiscard]] Nesting nested() const { return parser.nested(parser.nesting_, max_depth); }
  // `not` binds less than comparisons, as in Python: `not a < b`.
  [[nodiscard]] Infix prefix() const {
    if (parser.at_not()) return {&row(ScalarOp::logical_not), strength(row(ScalarOp::logical_and)) + 1};
    return prefix_of(parser.peek());
  }

  // `@` stands between the prefix operators and `^`.
  [[nodiscard]] Infix infix() const {
    const Token& token = parser.peek();
    if (token.is("@")) return {nullptr, strength(row(ScalarOp::neg)) + 1};
    const ScalarOpRow* const spelled = word_operator(token);
    return spelled != nullptr ? Infix{spelled, strength(*spelled)} : infix_of(token);
  }

  [[noreturn]] void refuse_chain() const {
    parser.source_.fail(parser.peek().mark, "comparisons cannot be chained",
                        "a < b gives a bool, which is not compared with c", "write a < b && b < c");
  }

  [[nodiscard]] Token take() const { return parser.next(); }

  [[nodiscard]] Token take_infix(int /*links*/) const {
    const Token token = parser.next();
    parser.skip_newlines();
    return token;
  }

  [[nodiscard]] Node leaf() const { return parser.postfix(); }

  [[nodiscard]] Node built(const ScalarOpRow* row, const Token& token, std::vector<Node> operands) const {
    Node node = parser.make(row == nullptr ? NodeKind::product : NodeKind::operation, token.mark, std::move(operands));
    if (row != nullptr) node.op = row->op;
    return node;
  }
};

Node Parser::expression() {
  Grammar grammar{*this};
  return climb(grammar, 0);
}

Node Parser::postfix() {
  Node node = primary();
  for (;;) {
    const Token& token = peek();
    if (accept("'")) {
      node = make(NodeKind::transpose, token.mark, one(std::move(node)));
    } else if (accept("[")) {
      std::vector<Node> args = one(std::move(node));
      do args.push_back(index_expression());
      while (accept(","));
      expect("]", "after the index");
      node = make(NodeKind::index, token.mark, std::move(args));
    } else if (token.is(".") && peek(1).is_name("T")) {
      next();
      next();
      node = make(NodeKind::transpose, token.mark, one(std::move(node)));
    } else if (accept(".")) {
      const Token& number = peek();
      int component = 0;
      const char* end = number.text.data() + number.text.size();
      const bool good =
          number.kind == TokenKind::number && std::from_chars(number.text.data(), end, component).ec == std::errc{};
      if (!good) refuse_method();
      next();
      node = make(NodeKind::component, token.mark, one(std::move(node)));
      node.component = component;
    } else if (token.is_name("as") && peek(1).is("[")) {
      node = renamed(std::move(node));
    } else {
      return node;
    }
  }
}

// One of the indices of an element. A part of an array is refused with the form to write instead.
Node Parser::index_expression(bool sets) {
  if (peek().is(":")) refuse_slice(sets);
  Node index = expression();
  if (peek().is(":") || peek().is("..")) refuse_slice(sets);
  return index;
}

Node Parser::primary() {
  const Token& token = peek();
  if (token.kind == TokenKind::number) return number();
  if (token.is("(")) return at_lambda() ? lambda() : parenthesized();
  if (token.is("[")) return bracketed();
  if (token.kind != TokenKind::name) unexpected("an expression");
  if (token.text == "if") return conditional();
  if (peek(1).is("->")) return lambda();
  if (token.text == "true" || token.text == "false" || token.text == "inf" || token.text == "nan") {
    next();
    Node node = make(token.text[0] == 't' || token.text[0] == 'f' ? NodeKind::boolean : NodeKind::real, token.mark);
    node.text = token.text;
    return node;
  }
  if (peek(1).is("(") && (is_type_name(token.text) || !is_keyword(token.text))) {
    next();
    return call(token);
  }
  if (is_type_name(token.text)) {  // `map(f64, x)`
    next();
    Node node = make(NodeKind::name, token.mark);
    node.text = token.text;
    return node;
  }
  const NameAt name = new_name("an expression");
  Node node = make(NodeKind::name, name.mark);
  node.text = name.text;
  return node;
}

Node Parser::number() {
  const Token& token = next();
  const bool real = token.real || token.suffix == "f64" || token.suffix == "f32";
  Node node = make(real ? NodeKind::real : NodeKind::integer, token.mark);
  node.text = token.digits();
  node.suffix = token.suffix;
  return node;
}

Node Parser::parenthesized() {
  const Mark mark = next().mark;
  std::vector<Node> parts = one(expression());
  bool comma = false;
  while (accept(",")) {
    comma = true;
    if (peek().is(")")) break;  // `(a,)`
    parts.push_back(expression());
  }
  expect(")", "after the expression");
  if (!comma) return std::move(parts[0]);
  return make(NodeKind::tuple, mark, std::move(parts));
}

Node Parser::bracketed() {
  const Token& open = next();
  if (peek().kind == TokenKind::name && peek(1).is_name("in")) {
    Node loop = coordinate_loop(ScalarOp::build, open);
    expect("]", "after the coordinate");
    return loop;
  }
  if (peek().is("]")) {
    source_.fail(open.mark, "an array of nothing", "arrays have the size of their dimensions, and do not grow",
                 "write list x[10] : f64 = 0 for a list, whose arrays x[i] = ... sets, or output each value of a loop");
  }
  std::vector<Node> parts = one(expression());
  while (accept(",")) parts.push_back(expression());
  expect("]", "after the coordinates");
  return make(NodeKind::small_array, open.mark, std::move(parts));
}

// `j in d: e`, `i in N, k in M: e`
Node Parser::coordinate_loop(ScalarOp op, const Token& at) {
  std::vector<NameAt> names;
  std::vector<Node> args;
  do {
    names.push_back(new_name("the name of the loop's variable"));
    if (!accept_name("in")) unexpected("'in'");
    args.push_back(expression());
  } while (accept(","));
  expect(":", "after the number of coordinates, or the dimension");
  args.push_back(expression());
  Node node = make(NodeKind::loop, at.mark, std::move(args));
  node.op = op;
  node.text = names[0].text;
  node.names = std::move(names);
  return node;
}

Node Parser::conditional() {
  const Mark mark = next().mark;
  std::vector<Node> parts = one(expression());
  skip_newlines();
  if (!accept_name("then")) unexpected("'then'");
  skip_newlines();
  parts.push_back(expression());
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::newline) ++ahead;
  if (peek(ahead).is_name("else")) at_ += ahead;
  if (!accept_name("else")) unexpected("'else'; both sides must have a value");
  skip_newlines();
  parts.push_back(expression());
  Node node = make(NodeKind::operation, mark, std::move(parts));
  node.op = ScalarOp::select;
  return node;
}

Node Parser::call(const Token& callee) {
  next();  // (
  const ScalarOp loop = loop_op(callee.text);
  const bool by_name = callee.text == "any" || callee.text == "all" || callee.text == "mean";
  if ((loop != ScalarOp::constant || by_name) && peek().kind == TokenKind::name && peek(1).is_name("in")) {
    Node node = coordinate_loop(callee.text == "mean" ? ScalarOp::sum_over : loop, callee);
    if (by_name) node.suffix = callee.text;
    expect(")", "after the body of the loop");
    return node;
  }
  std::vector<Node> args;
  if (!peek().is(")")) {
    do args.push_back(argument(args.empty()));
    while (accept(","));
  }
  expect(")", "after the arguments");
  Node node = make(NodeKind::call, callee.mark, std::move(args));
  node.text = callee.text;
  return node;
}

// True before `by k`, which no variable or function of the name `by` begins.
bool Parser::at_keys(size_t ahead) const {
  const Token &by = peek(ahead), &next = peek(ahead + 1);
  if (!by.is_name("by")) return false;
  const bool apart = next.mark.line == by.mark.line && next.mark.column > by.mark.column + 2;
  return next.kind == TokenKind::name || next.kind == TokenKind::number || (next.is("(") && apart);
}

// `over N, M`, `by k in K`, or both.
Node Parser::clauses() {
  Node node = make(NodeKind::over, peek().mark);
  do {
    if (accept_name("over")) {
      do node.names.push_back(new_name("a dimension"));
      while (!(peek().is(",") && at_keys(1)) && accept(","));
    } else {
      if (!node.args.empty()) refuse_second_keys();
      next();
      node.args.push_back(expression());
      if (accept_name("in")) {
        const NameAt dim = new_name("a dimension");
        node.args.push_back(make(NodeKind::name, dim.mark));
        node.args.back().text = dim.text;
      }
      const bool more = peek().is(",") && peek(1).kind == TokenKind::name && peek(2).is_name("in");
      if (more && accept(",")) refuse_second_keys();
    }
  } while (peek().is(",") && (peek(1).is_name("over") || at_keys(1)) && accept(","));
  return node;
}

// An expression, an operator used as a function (`*`), or the dimensions or keys of a reduction (`over F`, `by k`).
Node Parser::argument(bool first) {
  const Token& token = peek();
  if (token.kind == TokenKind::symbol && (peek(1).is(",") || peek(1).is(")"))) {
    next();
    Node node = make(NodeKind::op_ref, token.mark);
    node.text = token.text;
    return node;
  }
  if (token.kind == TokenKind::name && peek(1).is("=")) {
    constexpr std::array<std::string_view, 5> axes{"axis", "axes", "dim", "dims", "keepdims"};
    if (std::find(axes.begin(), axes.end(), token.text) == axes.end()) refuse_keyword();
    at_ += 1;
    unexpected("',' or ')'", "write sum(A, over F) to reduce along F: arguments have no names");
  }
  if (token.is_name("over") || (!first && at_keys(0))) return clauses();
  return expression();
}

// `(x, y: f64) ->`: looks at the text up to the first ')', and at what follows it.
bool Parser::at_lambda() const {
  size_t ahead = 1;
  int depth = 1;
  while (depth > 0 && ahead < 200) {
    const Token& token = peek(ahead++);
    if (token.kind == TokenKind::end || token.kind == TokenKind::newline) return false;
    if (token.is("(")) ++depth;
    if (token.is(")")) --depth;
  }
  return depth == 0 && peek(ahead).is("->");
}

Node Parser::lambda() {
  const Mark mark = peek().mark;
  std::vector<ParamNode> list;
  if (peek().is("(")) {
    list = params();
  } else {
    const NameAt name = new_name("a parameter");
    list.push_back({name.text, name.mark, {}, {}});
  }
  expect("->", "and the body");
  Node node = make(NodeKind::lambda, mark, one(expression()));
  node.params = std::move(list);
  return node;
}

std::vector<ParamNode> Parser::params() {
  std::vector<ParamNode> list;
  expect("(", "and the parameters");
  if (!peek().is(")")) {
    do {
      const NameAt name = new_name("a parameter");
      ParamNode param{name.text, name.mark, {}, {}};
      if (accept(":")) param.type.push_back(type());
      list.push_back(std::move(param));
    } while (accept(","));
  }
  expect(")", "after the parameters");
  return list;
}

}  // namespace kasen::lang
