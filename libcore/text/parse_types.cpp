// Parses declared names, and the types and states of values.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/text/parse.h"

namespace kasen::text {

FnId ModuleParser::function_name() {
  const Token name = lexer_.expect(TokenKind::name, "a function's name");
  for (const FnId id : m_.functions.ids()) {
    if (m_.fn(id).name == name.text) return id;
  }
  lexer_.fail_at(name, fmt::format("unknown function '{}'", name.text));
}

DimId ModuleParser::dim_name() {
  const Token name = lexer_.expect(TokenKind::name, "a dimension");
  const DimId d = m_.find_dim(name.text);
  if (d == no_dim) lexer_.fail_at(name, fmt::format("unknown dimension '{}'", name.text));
  return d;
}

std::vector<DimId> ModuleParser::dims() {
  std::vector<DimId> result;
  if (!lexer_.accept("[")) return result;
  do result.push_back(dim_name());
  while (lexer_.accept(","));
  lexer_.expect("]");
  return result;
}

SlaveSet ModuleParser::slave_set() {
  SlaveSet set;
  lexer_.expect("{");
  while (!lexer_.at("}")) {
    if (!set.empty()) lexer_.expect(",");
    set.push_back(slave_atom());
  }
  lexer_.expect("}");
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

// `G.rows`, `G.cols`, or `all`.
SlaveAtom ModuleParser::slave_atom() {
  const Token matrix = lexer_.expect(TokenKind::name, "a matrix, or all");
  if (matrix.text == "all" && !lexer_.at(".")) return {"", Axis::all};
  lexer_.expect(".");
  const Token axis = lexer_.expect(TokenKind::name, "rows or cols");
  if (axis.text != "rows" && axis.text != "cols") lexer_.fail_at(axis, "expected rows or cols");
  return {std::string(matrix.text), axis.text == "rows" ? Axis::rows : Axis::cols};
}

State ModuleParser::state() {
  const Token name = lexer_.expect(TokenKind::state, "a state: @?, @part, @cons{..} or @pre(f){..}");
  State s;
  if (name.text == "part")
    s = State::part();
  else if (name.text == "cons")
    s = State::cons();
  else if (name.text == "pre") {
    lexer_.expect("(");
    s = State::pre(function_name());
    lexer_.expect(")");
  } else if (name.text != "?") {
    lexer_.fail_at(name, fmt::format("unknown state '@{}'", name.text), "", "use @?, @part, @cons{..} or @pre(f){..}");
  }
  const bool with_set = s.is_cons() || s.is_pre();
  if (with_set && set_follows()) s.slaves = slave_set();
  return s;
}

// A `{` after @cons begins a ghost set or a block. A set is empty, `all`, or begins with `name .`.
bool ModuleParser::set_follows() {
  if (!lexer_.at("{")) return false;
  Lexer ahead = lexer_;
  ahead.take();
  if (ahead.at("}")) return true;
  const Token first = ahead.take();
  return first.kind == TokenKind::name && (ahead.at(".") || (first.text == "all" && (ahead.at("}") || ahead.at(","))));
}

Type ModuleParser::type() {
  Type t;
  if (lexer_.accept("list")) {
    lexer_.expect("<");
    const Token size = lexer_.peek();
    t.list = parse_integer(lexer_, "a length");
    if (t.list < 1 || t.list > (1 << 20)) lexer_.fail_at(size, "a list has 1 to 1048576 arrays");
    lexer_.expect(">");
  }
  t.element = parse_element_type(lexer_, m_);
  t.dims = dims();
  t.sparse = lexer_.accept("sparse");
  t.compressed = lexer_.accept("compressed");
  t.state = state();
  return t;
}

// Defines the value named by `token`, with its type and buffer. The value is known to the text that follows.
ValueId ModuleParser::define(const Token& token) {
  const std::string name(token.text);
  if (values_.contains(name)) lexer_.fail_at(token, fmt::format("%{} is defined twice", name));
  Value v{name, type(), no_buffer};
  if (lexer_.peek().kind == TokenKind::buffer) v.buffer = buffer_number(lexer_.take());
  const ValueId id = m_.values.push_back(std::move(v));
  values_.emplace(name, id);
  return id;
}

BufferId ModuleParser::buffer_number(const Token& token) {
  for (const BufferId id : m_.buffers.ids()) {
    if (token.text == fmt::format("b{}", id)) return id;
  }
  lexer_.fail_at(token, fmt::format("unknown buffer '~{}'", token.text));
}

}  // namespace kasen::text
