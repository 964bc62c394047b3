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

}  // namespace kasen::lang
