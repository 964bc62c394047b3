// Types as written.
#include <fmt/format.h>

#include "libcore/syntax/parser.h"

namespace kasen::lang {

bool is_type_name(std::string_view name) {
  return name == "f64" || name == "f32" || name == "i64" || name == "i32" || name == "bool";
}

// `[storage] element [dims]`
TypeNode Parser::type() {
  TypeNode node;
  node.mark = peek().mark;
  if (peek().is_name("dense") || peek().is_name("sparse")) node.storage = next().text;
  if (accept("(")) {
    node.tuple = true;
    do {
      if (!node.components.empty() && peek().is(")")) break;
      node.components.push_back(component());
    } while (accept(","));
    expect(")", "after the components of the tuple");
  } else {
    node.components.push_back(component());
  }
  if (!accept("[")) return node;
  do {
    if (peek().kind == TokenKind::number && !peek().real) {
      unexpected("the name of a dimension", fmt::format("declare one: dim N = {}, and write it here", peek().digits()));
    }
    node.dims.push_back(new_name("the name of a dimension"));
  } while (accept(","));
  expect("]", "after the dimensions");
  return node;
}

ComponentNode Parser::component() {
  ComponentNode node;
  node.mark = peek().mark;
  const bool array = accept("[");
  const Token& scalar = peek();
  const bool known = is_type_name(scalar.text) || scalar.text == "null" || scalar.text == "id";
  if (scalar.kind != TokenKind::name || !known) refuse_type();
  node.scalar = next().text;
  if (node.scalar == "id") {
    expect("[", "and the dimension of the id");
    node.id_of = new_name("the name of a dimension").text;
    expect("]", "after the dimension");
  }
  if (!array) return node;
  expect(";", "and the number of coordinates");
  node.count.push_back(expression());
  expect("]", "after the number of coordinates");
  return node;
}

// `param lambda : f64[L] = "lambda.csv"` is an input whose file the program names.
Statement Parser::with_file(Statement s) {
  if (s.type.empty() || s.type[0].dims.empty()) {
    source_.fail(peek().mark, fmt::format("a text for the single value '{}'", s.name.text),
                 "a text names the file of an array",
                 fmt::format("write param {} : f64[N] = \"file.csv\", or a number", s.name.text));
  }
  s.kind = StatementKind::input;
  s.file = std::string(next().text);
  if (s.file.empty()) source_.fail(s.mark, fmt::format("an empty name for the file of '{}'", s.name.text));
  return s;
}

Statement Parser::input() {
  Statement s = named(StatementKind::input, "the name of an input");
  if (!peek().is(":")) {
    unexpected("':' and the type of the input",
               fmt::format("write input {0} : f64[N] for a vector, input {0} : null[N, N] for a graph", s.name.text));
  }
  next();
  s.type.push_back(type());
  if (!accept("=")) return s;
  if (peek().kind == TokenKind::string) return with_file(std::move(s));
  unexpected("the name of a file in quotes", fmt::format("write input {} : f64[N] = \"file.csv\"", s.name.text));
}

}  // namespace kasen::lang
