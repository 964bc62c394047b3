// Parses declared names, and the types and states of values.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/layout.h"
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

// `[N/a,K]`. Cuts that are those of the default layout are not kept: a type has one form.
void ModuleParser::dims(std::vector<DimId>& dims, std::vector<AxisCut>& cuts) {
  if (!lexer_.accept("[")) return;
  bool named = !m_.mesh.empty();
  do {
    dims.push_back(dim_name());
    const bool slash = lexer_.accept("/");
    cuts.push_back(slash ? cut() : AxisCut());
    named = named || slash;
  } while (lexer_.accept(","));
  lexer_.expect("]");
  const Layout usual(m_, dims);
  bool same = true;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) same = same && usual.cut_of(axis) == cuts[axis];
  if (!named || (same && (m_.mesh.empty() || usual.is_shared()))) cuts.clear();
}

// The axes of the mesh behind a slash, each a letter, in the mesh's order; 0 for none, which is what no slash says.
// `ab:256`: in blocks of 256 indices.
AxisCut ModuleParser::cut() {
  if (const Token none = lexer_.peek(); none.kind == TokenKind::number && none.text == "0") {
    needs_layouts(none);
    (void)lexer_.take();
    return {};
  }
  const Token axes = lexer_.expect(TokenKind::name, "the axes of the mesh that cut the dimension");
  needs_layouts(axes);
  AxisCut cut;
  for (const char letter : axes.text) {
    const std::size_t axis = find_mesh_axis(m_, std::string_view(&letter, 1));
    if (axis == mesh_rank(m_)) lexer_.fail_at(axes, fmt::format("the mesh has no axis '{}'", letter));
    if (cut.axes >> axis != 0)
      lexer_.fail_at(axes, fmt::format("the axes '{}' are not in the mesh's order", axes.text), "",
                     "name each axis once, in the order of the line 'mesh'");
    cut.axes |= MeshAxes{1} << axis;
  }
  if (!lexer_.accept(":")) return cut;
  const Token size = lexer_.peek();
  cut.block = parse_integer(lexer_, "the indices of a block");
  if (cut.block < 1 || cut.block > most_block) {
    lexer_.fail_at(size, fmt::format("blocks of {}", size.text), "a block has 1 to 2^62 indices");
  }
  return cut;
}

void ModuleParser::needs_layouts(const Token& at) {
  if (version_ >= 2) return;
  lexer_.fail_at(at, "version 1 of Kasen IR names no layouts", "", "begin the text with 'kir 2'");
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
  const bool axes = std::all_of(set.begin(), set.end(), [](const SlaveAtom& atom) { return atom.axis == Axis::mesh; });
  return axes ? set_of_mesh_axes(m_, mesh_axes_of(m_, set)) : set;
}

// `G.rows`, `G.cols`, `"G|H".rows`, `all`, or an axis of the mesh.
SlaveAtom ModuleParser::slave_atom() {
  if (lexer_.peek().kind == TokenKind::string) return {unquoted(lexer_.take().text), slave_axis()};
  const Token matrix = lexer_.expect(TokenKind::name, "a matrix, an axis of the mesh, or all");
  if (!lexer_.at(".")) {
    if (matrix.text == "all") return {"", Axis::all};
    if (find_mesh_axis(m_, matrix.text) < mesh_rank(m_)) {
      needs_layouts(matrix);
      return {std::string(matrix.text), Axis::mesh};
    }
  }
  return {std::string(matrix.text), slave_axis()};
}

Axis ModuleParser::slave_axis() {
  lexer_.expect(".");
  const Token axis = lexer_.expect(TokenKind::name, "rows or cols");
  if (axis.text != "rows" && axis.text != "cols") lexer_.fail_at(axis, "expected rows or cols");
  return axis.text == "rows" ? Axis::rows : Axis::cols;
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

// A `{` after @cons begins a ghost set or a block. A set is empty, `all`, or begins with `name .` or an axis.
bool ModuleParser::set_follows() {
  if (!lexer_.at("{")) return false;
  Lexer ahead = lexer_;
  ahead.take();
  if (ahead.at("}")) return true;
  const Token first = ahead.take();
  const bool alone = ahead.at("}") || ahead.at(",");
  const bool known = first.text == "all" || find_mesh_axis(m_, first.text) < mesh_rank(m_);
  if (first.kind == TokenKind::string) return ahead.at(".");
  return first.kind == TokenKind::name && (ahead.at(".") || (known && alone));
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
  dims(t.dims, t.cuts);
  t.sparse = lexer_.accept("sparse");
  if (t.sparse && Layout(m_, t).is_shared()) t.cuts.clear();  // its rows and columns are dealt out by the bundle
  t.compressed = lexer_.accept("compressed");
  t.state = state();
  // A shared that every worker holds, or contributes to, has no set.
  if (!m_.mesh.empty() && is_all(t.state.slaves) && Layout(m_, t).is_shared()) t.state.slaves.clear();
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
