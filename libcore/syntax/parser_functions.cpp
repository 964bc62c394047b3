// Functions, and the files that they come from.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/syntax/parser.h"

namespace kasen::lang {

Statement Parser::function() {
  Statement s = named(StatementKind::function, "the name of a function");
  s.params = params();
  if (accept("=")) {
    skip_newlines();
    s.value.push_back(expression());
  } else {
    function_body(s);
  }
  return s;
}

// `X as [N, G]`
Node Parser::renamed(Node array) {
  const Token& as = next();
  Node dims = make(NodeKind::over, as.mark);
  expect("[", "and the dimensions");
  do dims.names.push_back(new_name("the name of a dimension"));
  while (accept(","));
  expect("]", "after the dimensions");
  std::vector<Node> args;
  args.push_back(std::move(array));
  args.push_back(std::move(dims));
  Node node = make(NodeKind::call, as.mark, std::move(args));
  node.text = renaming_call;
  return node;
}

// `{ a = e; b = e; result }`
void Parser::function_body(Statement& fn) {
  expect("{", "or '=' and the body");
  for (;;) {
    skip_newlines();
    if (peek().kind != TokenKind::name || !peek(1).is("=")) break;
    fn.body.push_back(assignment());
    end_statement();
  }
  if (peek().is("}")) unexpected("the value of the function");
  if (peek().is_name("while") || peek().is_name("for")) {
    const Token word = peek();
    for (int depth = 1; depth > 0 && peek().kind != TokenKind::end; next()) {  // what follows is told once
      if (peek().is("{")) ++depth;
      if (peek().is("}")) --depth;
    }
    source_.fail(word.mark, fmt::format("'{}' inside of fn '{}'", word.text, fn.name.text),
                 "a fn is one expression, of elements; loops and branches need a def, which works on arrays",
                 fmt::format("write def {}(...) {{ ...; return x }}", fn.name.text));
  }
  if (peek(1).kind != TokenKind::symbol) refuse_statement_word();
  fn.value.push_back(expression());
  skip_newlines();
  expect("}", "after the value of the function");
}

// `def f(x : [N, F], r = 0.5, over d) { ...; return a, b }`, `def f(x) = e`
Statement Parser::definition() {
  Statement s = named(StatementKind::definition, "the name of a function");
  definition_params(s);
  if (accept("=")) {
    skip_newlines();
    s.arguments.push_back(expression());
  } else {
    definition_body(s);
  }
  return s;
}

void Parser::definition_params(Statement& def) {
  expect("(", "and the parameters");
  while (!peek().is(")")) {
    if (accept_name("over")) {
      do def.names.push_back(new_name("a name for dimensions of the caller"));
      while (accept(","));
      break;
    }
    const NameAt name = new_name("a parameter");
    ParamNode param{name.text, name.mark, {}, {}};
    if (accept(":")) param.type.push_back(param_type());
    if (accept("=")) {
      param.usual.push_back(expression());
    } else if (!def.params.empty() && !def.params.back().usual.empty()) {
      source_.fail(name.mark,
                   fmt::format("'{}' has no value of its own, and the parameter before it has one", name.text),
                   "a call leaves out its last arguments", "put it before those with a value");
    }
    def.params.push_back(std::move(param));
    if (!accept(",")) break;
  }
  expect(")", "after the parameters");
}

// `[N, M]` names the dimensions alone; all else is a type as elsewhere.
TypeNode Parser::param_type() {
  const Token& name = peek(1);
  if (!peek().is("[") || name.kind != TokenKind::name || is_keyword(name.text)) return type();
  TypeNode node;
  node.mark = next().mark;
  do node.dims.push_back(new_name("a name for a dimension of the argument"));
  while (accept(","));
  expect("]", "after the dimensions");
  return node;
}

void Parser::definition_body(Statement& def) {
  if (peek().is(":")) unexpected("'{' or '='", "blocks stand in braces: def f(x) { ... return y }");
  def_blocks_ = blocks_ + 1;
  const Mark open = peek().mark;
  try {
    def.body = block();
  } catch (...) {
    def_blocks_ = -1;
    throw;
  }
  def_blocks_ = -1;
  const auto is_result = [](const Statement& s) { return s.kind == StatementKind::result; };
  const auto found = std::find_if(def.body.begin(), def.body.end(), is_result);
  if (found == def.body.end()) {
    source_.fail(open, fmt::format("def '{}' returns nothing", def.name.text), "a function has a value",
                 "end it with return x, or with return x, y");
  }
  if (found + 1 != def.body.end()) {
    source_.fail((found + 1)->mark, "a statement behind 'return'", "nothing comes after it",
                 "move it before, or leave it out");
  }
  def.arguments = std::move(found->arguments);
  def.body.pop_back();
}

// `return a, b`, the last statement of a def.
Statement Parser::result() {
  const Mark mark = peek().mark;
  if (def_blocks_ < 0) {
    source_.fail(mark, "'return' outside of a def", "a program has outputs", "write output x");
  }
  if (blocks_ != def_blocks_) {
    source_.fail(mark, "'return' inside a block", "the last statement of a def alone returns its value",
                 "give a name a value before the block and in it, and return the name behind it");
  }
  Statement s = begin(StatementKind::result);
  do s.arguments.push_back(expression());
  while (accept(","));
  return s;
}

// `use "stats"`, `use "file.ks"`
Statement Parser::use() {
  if (peek().kind != TokenKind::string) {
    unexpected("the name of a file or a library in quotes", "write use \"file.ks\", or use \"stats\"");
  }
  Statement s;
  s.kind = StatementKind::use;
  s.mark = peek().mark;
  s.name = {std::string(next().text), s.mark};
  return s;
}

// `N[begin:end:step]`; each of the three may be missing.
void Parser::sliced_dimension(Statement& s) {
  const NameAt source = new_name("the name of a dimension");
  Node node = make(NodeKind::name, source.mark);
  node.text = source.text;
  s.value.push_back(std::move(node));
  next();  // [
  do {
    const bool missing = peek().is(":") || peek().is("]");
    s.slice.push_back(missing ? std::nullopt : std::optional(expression()));
  } while (s.slice.size() < 3 && accept(":"));
  if (s.slice.size() == 1) {
    unexpected("':' and the end of the slice",
               fmt::format("write dim {0} = {1}[i:i + 1] for one index, {1}[a:b] for those from a to before b",
                           s.name.text, source.text));
  }
  expect("]", "after the slice");
}

}  // namespace kasen::lang
