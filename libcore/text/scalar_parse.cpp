// Parses scalar expressions; the builders check the types.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "libcore/lex/precedence.h"
#include "libcore/scalar/loops.h"
#include "libcore/text/scalar.h"

namespace kasen {
namespace {

constexpr int deepest = 400;         // limit of nesting, so that a hostile file cannot exhaust the stack
constexpr int longest_chain = 4000;  // x + x + ..., each a level of the tree

std::optional<Scalar> scalar_by_name(std::string_view name) {
  for (int s = 0; s <= static_cast<int>(Scalar::null); ++s) {
    if (scalar_name(static_cast<Scalar>(s)) == name) return static_cast<Scalar>(s);
  }
  return std::nullopt;
}

std::optional<Literal> named_literal(std::string_view name) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (name == "true" || name == "false") return Literal{Scalar::boolean, Word::integer(name == "true" ? 1 : 0)};
  if (name == "inf") return Literal{Scalar::f64, Word::real(infinity)};
  if (name == "inff32") return Literal{Scalar::f32, Word::real(infinity)};
  if (name == "nan") return Literal{Scalar::f64, Word::real(nan)};
  if (name == "nanf32") return Literal{Scalar::f32, Word::real(nan)};
  return std::nullopt;
}

template <class T>
T read_number(const Lexer& lexer, const Token& token, std::string_view digits) {
  T value{};
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc{} || end != digits.data() + digits.size()) {
    lexer.fail_at(token, fmt::format("'{}' is not a number that fits its type", token.text));
  }
  return value;
}

Literal integer_literal(const Lexer& lexer, const Token& token, std::string_view digits, bool minus, Scalar scalar) {
  const auto magnitude = read_number<std::uint64_t>(lexer, token, digits);
  const std::uint64_t top = scalar == Scalar::i32 ? 1ULL << 31 : 1ULL << 63;
  if (magnitude > top - (minus ? 0 : 1)) lexer.fail_at(token, fmt::format("'{}' does not fit its type", token.text));
  return {scalar, Word::integer(static_cast<std::int64_t>(minus ? 0 - magnitude : magnitude))};
}

Literal number_literal(const Lexer& lexer, const Token& token, bool minus) {
  std::string_view digits = token.text;
  const bool single = digits.ends_with("f32");
  const bool narrow = digits.ends_with("i32");
  if (single || narrow) digits.remove_suffix(3);
  const bool real = single || token.real;
  if (!real) return integer_literal(lexer, token, digits, minus, narrow ? Scalar::i32 : Scalar::i64);
  const double value = single ? static_cast<double>(read_number<float>(lexer, token, digits))
                              : read_number<double>(lexer, token, digits);
  return {single ? Scalar::f32 : Scalar::f64, Word::real(minus ? -value : value)};
}

struct ExpressionParser {
  Lexer& lexer;
  const std::vector<ScalarParam>& params;
  int depth = 0;

  // Runs a builder and reports its errors at `token`.
  template <class Make>
  Expr built(const Token& token, Make make) {
    try {
      return make();
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      lexer.fail_at(token, d.what, d.why, d.remedy);
    }
  }

  Expr expression() { return climb(*this, 0); }

  // ---- what climb asks for
  Nesting nested() {
    if (depth >= deepest) lexer.fail_at(lexer.peek(), "the expression is nested too deeply");
    return Nesting(depth);
  }

  // The minus before a number belongs to it.
  Infix prefix() const { return at_negative() ? Infix{} : prefix_of(lexer.peek()); }

  Infix infix() const { return infix_of(lexer.peek()); }
  void refuse_chain() const {}
  Token take() { return lexer.take(); }

  Token take_infix(int links) {
    const Token token = lexer.take();
    if (links > longest_chain) lexer.fail_at(token, "the expression is too long");
    return token;
  }

  Expr leaf() { return lexer.at("if") ? choice() : postfix(operand()); }

  Expr built(const ScalarOpRow* row, const Token& token, std::vector<Expr> operands) {
    return built(token, [&] { return make_op(row->op, std::move(operands)); });
  }

  // ---- operands
  bool at_negative() const {
    if (!lexer.at("-")) return false;
    Lexer ahead = lexer;
    ahead.take();
    return ahead.peek().kind == TokenKind::number || ahead.at("inf") || ahead.at("inff32");
  }

  Expr choice() {
    const Token token = lexer.take();
    Expr condition = expression();
    lexer.expect("then");
    Expr yes = expression();
    lexer.expect("else");
    Expr no = expression();
    return built(token, [&] {
      return make_op(ScalarOp::select, {std::move(condition), std::move(yes), std::move(no)});
    });
  }

  Expr postfix(Expr e) {
    for (;;) {
      const Token token = lexer.peek();
      if (lexer.accept("[")) {
        Expr index = expression();
        lexer.expect("]");
        e = built(token, [&] { return make_element(std::move(e), std::move(index)); });
      } else if (lexer.accept(".")) {
        const std::int64_t component = parse_integer(lexer, "a component's number");
        e = built(token, [&] {
          return make_component(std::move(e), static_cast<int>(std::min<std::int64_t>(component, 1 << 20)));
        });
      } else {
        return e;
      }
    }
  }

  Expr operand() {
    const Token token = lexer.peek();
    if (token.kind == TokenKind::number || at_negative() ||
        (token.kind == TokenKind::name && named_literal(token.text))) {
      const Literal l = parse_literal(lexer);
      return make_literal(l.scalar, l.value);
    }
    if (token.kind == TokenKind::loop) return make_loop_var(loop_number(lexer.take()));
    if (lexer.accept("(")) {
      Expr inner = expression();
      lexer.expect(")");
      return inner;
    }
    if (lexer.accept("[")) return loop(token, ScalarOp::build, "]");
    const Token name = lexer.expect(TokenKind::name, "an operand");
    if (lexer.accept("(")) return call(name);
    const auto it =
        std::find_if(params.begin(), params.end(), [&](const ScalarParam& p) { return p.name == name.text; });
    if (it == params.end()) lexer.fail_at(name, fmt::format("unknown parameter '{}'", name.text));
    return make_param(static_cast<int>(it - params.begin()), it->type);
  }

  int loop_number(const Token& token) {
    const int number = read_number<int>(lexer, token, token.text);
    if (number < 0 || number >= 64) lexer.fail_at(token, "a loop variable above $63");
    return number;
  }

  // After the opening bracket: `$0 in 3: body`.
  Expr loop(const Token& token, ScalarOp over, std::string_view close) {
    const int number = loop_number(lexer.expect(TokenKind::loop, "a loop variable such as $0"));
    lexer.expect("in");
    const std::int64_t count = parse_integer(lexer, "a number of iterations");
    lexer.expect(":");
    Expr body = expression();
    lexer.expect(close);
    return built(token, [&] { return make_loop(over, number, count, std::move(body)); });
  }

  Expr call(const Token& name) {
    if (lexer.peek().kind == TokenKind::loop) {
      for (const ScalarOp over : combining_loops) {
        const bool begins = row(over).name == name.text;
        if (begins && looks_like_loop()) return loop(name, over, ")");
      }
    }
    std::vector<Expr> args;
    while (!lexer.at(")")) {
      if (!args.empty()) lexer.expect(",");
      args.push_back(expression());
    }
    lexer.expect(")");
    const std::optional<Scalar> target = scalar_by_name(name.text);
    if (target && args.size() == 1) return built(name, [&] { return make_cast(*target, std::move(args[0])); });
    if (name.text == row(ScalarOp::make_tuple).name) return built(name, [&] { return make_tuple(std::move(args)); });
    const ScalarOpRow* r = find_scalar_op(name.text, static_cast<int>(args.size()));
    if (r == nullptr) lexer.fail_at(name, fmt::format("no function '{}' of {} operands", name.text, args.size()));
    return built(name, [&] { return make_op(r->op, std::move(args)); });
  }

  // Distinguishes `min($0 in 3: ..)` from `min($0, $1)`.
  bool looks_like_loop() {
    Lexer ahead = lexer;
    ahead.take();
    return ahead.at("in");
  }
};

}  // namespace

Expr parse_expression(Lexer& lexer, const std::vector<ScalarParam>& params) {
  return ExpressionParser{lexer, params}.expression();
}

std::int64_t parse_integer(Lexer& lexer, std::string_view what) {
  const Token token = lexer.expect(TokenKind::number, what);
  return read_number<std::int64_t>(lexer, token, token.text);
}

Literal parse_literal(Lexer& lexer) {
  const bool minus = lexer.accept("-");
  const Token token = lexer.take();
  if (token.kind == TokenKind::number) return number_literal(lexer, token, minus);
  std::optional<Literal> found = token.kind == TokenKind::name ? named_literal(token.text) : std::nullopt;
  if (!found) lexer.fail_at(token, "expected a literal", fmt::format("found '{}'", token.text));
  if (minus && !is_float(found->scalar)) lexer.fail_at(token, fmt::format("'-{}' is no literal", token.text));
  if (minus) found->value.f = -found->value.f;
  return *found;
}

ElementType parse_element_type(Lexer& lexer, const Module& module) {
  ElementType type;
  type.tuple = lexer.accept("(");
  type.components.clear();
  do {
    Component c;
    const bool array = lexer.accept("[");
    const Token name = lexer.expect(TokenKind::name, "an element type");
    if (name.text == "id") {
      c.scalar = Scalar::id;
      lexer.expect("[");
      const Token dim = lexer.expect(TokenKind::name, "a dimension");
      c.id_of = module.find_dim(dim.text);
      if (c.id_of == no_dim) lexer.fail_at(dim, fmt::format("unknown dimension '{}'", dim.text));
      lexer.expect("]");
    } else {
      const std::optional<Scalar> scalar = scalar_by_name(name.text);
      if (!scalar) {
        lexer.fail_at(name, fmt::format("unknown element type '{}'", name.text), "",
                      "use f64 f32 i64 i32 bool null or id[N]");
      }
      c.scalar = *scalar;
    }
    if (array) {
      lexer.expect(";");
      const Token size = lexer.peek();
      c.count = parse_integer(lexer, "a number of coordinates");
      if (c.count < 1 || c.count > (1 << 20)) lexer.fail_at(size, "a small array has 1 to 1048576 coordinates");
      lexer.expect("]");
    }
    type.components.push_back(c);
  } while (type.tuple && lexer.accept(","));
  if (type.tuple) lexer.expect(")");
  return type;
}

}  // namespace kasen
