// Dimensions, constants, functions, laws and buffers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/scalar/element_range.h"
#include "libcore/text/parse.h"

namespace kasen::text {

bool ModuleParser::declaration() {
  if (lexer_.accept("mesh")) return mesh();
  if (lexer_.accept("nodes")) return nodes();
  if (lexer_.accept("dim")) return dimension();
  if (lexer_.accept("const")) return constant();
  if (lexer_.accept("fn")) return function();
  if (lexer_.accept("assume")) return assumption();
  if (lexer_.accept("law")) return law(m_.laws);
  if (lexer_.accept("buffer")) return buffer();
  if (lexer_.accept("memory")) return memory();
  if (lexer_.accept("file")) return file();
  if (lexer_.accept("planned")) {
    m_.planned_by = unquoted(lexer_.expect(TokenKind::string, "options").text);
    return true;
  }
  if (!lexer_.accept("fitted")) return false;
  m_.fitted_to = unquoted(lexer_.expect(TokenKind::string, "a digest").text);
  return true;
}

// `file "X" "table.csv"`
bool ModuleParser::file() {
  const Token at = lexer_.peek();
  const std::string input = unquoted(lexer_.expect(TokenKind::string, "the name of an input").text);
  const std::string name = unquoted(lexer_.expect(TokenKind::string, "the name of a file").text);
  if (!m_.files.emplace(input, name).second) lexer_.fail_at(at, fmt::format("input '{}' has two files", input));
  return true;
}

// `mesh a = 2, b = 2`, above everything that names an axis.
bool ModuleParser::mesh() {
  const Token first = lexer_.peek();
  needs_layouts(first);
  if (!m_.mesh.empty() || m_.buffers.size() > 0)
    lexer_.fail_at(first, "there is one mesh", "", "write the line 'mesh' once, above all buffers");
  do {
    const Token name = lexer_.expect(TokenKind::name, "an axis of the mesh");
    if (name.text.size() != 1 || name.text[0] < 'a' || name.text[0] > 'z')
      lexer_.fail_at(name, fmt::format("'{}' names no axis", name.text), "an axis is one letter, a to z");
    const bool twice =
        std::any_of(m_.mesh.begin(), m_.mesh.end(), [&](const MeshAxis& axis) { return axis.name == name.text; });
    if (twice) lexer_.fail_at(name, fmt::format("the mesh has two axes '{}'", name.text));
    if (m_.mesh.size() == most_mesh_axes) lexer_.fail_at(name, fmt::format("more than {} axes", most_mesh_axes));
    lexer_.expect("=");
    m_.mesh.push_back({std::string(name.text), parse_integer(lexer_, "the axis's number of workers")});
  } while (lexer_.accept(","));
  return true;
}

// `nodes a, b`: the mesh's axes that cross nodes, in the mesh's order.
bool ModuleParser::nodes() {
  std::size_t next = 0;
  do {
    const Token name = lexer_.expect(TokenKind::name, "an axis of the mesh");
    const std::size_t axis = m_.mesh.empty() ? 0 : find_mesh_axis(m_, name.text);
    if (axis >= m_.mesh.size()) {
      lexer_.fail_at(name, fmt::format("the mesh has no axis '{}'", name.text), "",
                     "write the line 'nodes' below the line 'mesh', with axes of that");
    }
    if (axis < next) {
      lexer_.fail_at(name, fmt::format("axis '{}' is not in the mesh's order", name.text), "",
                     "name each axis once, in the order of the line 'mesh'");
    }
    m_.mesh[axis].crosses_nodes = true;
    next = axis + 1;
  } while (lexer_.accept(","));
  return true;
}

bool ModuleParser::dimension() {
  constexpr size_t most_dims = 4096;  // a tenth of it is more than any program has, and each is searched by name
  const Token name = lexer_.expect(TokenKind::name, "a dimension's name");
  if (m_.dims.size() >= most_dims) lexer_.fail_at(name, fmt::format("more than {} dimensions", most_dims));
  if (m_.find_dim(name.text) != no_dim)
    lexer_.fail_at(name, fmt::format("dimension '{}' is declared twice", name.text));
  Dimension d{std::string(name.text), lexer_.accept("local"), -1};
  if (lexer_.accept("some")) {
    d.derived.kind = Derivation::Kind::some;
    d.derived.sources = {dim_name()};
  } else if (lexer_.accept("fills")) {
    d.derived.step = -1;
    derivation(d);
    if (!fills(d.derived)) lexer_.fail_at(name, "a dimension fills a quotient", "write dim Z fills N / M");
  } else if (!d.local && lexer_.accept("entries")) {
    d.entries_of = unquoted(lexer_.expect(TokenKind::string, "the name of a sparse input").text);
    if (lexer_.accept("=")) d.size = parse_integer(lexer_, "a size");
  } else if (!d.local && lexer_.accept("workers")) {
    d.derived.kind = Derivation::Kind::workers;
    if (!m_.mesh.empty()) d.size = 1;
    for (const MeshAxis& axis : m_.mesh) {
      if (__builtin_mul_overflow(d.size, axis.size, &d.size))
        lexer_.fail_at(name, "the mesh has more workers than 64 bits count");
    }
  } else if (lexer_.accept("=")) {
    if (lexer_.peek().kind == TokenKind::name) {
      derivation(d);
    } else {
      d.size = parse_integer(lexer_, "a size");
    }
  }
  m_.dims.push_back(std::move(d));
  return true;
}

// `N[5:8]`, `N * M`, `N + M`, `N / M`: of dimensions above.
void ModuleParser::derivation(Dimension& d) {
  constexpr size_t most_sources = 64;
  Derivation& derived = d.derived;
  const Token first = lexer_.peek();
  derived.sources = {dim_name()};
  if (lexer_.at("[")) {
    derived.kind = Derivation::Kind::slice;
    sliced(derived);
  } else if (lexer_.accept("/")) {
    derived.kind = Derivation::Kind::quotient;
    derived.sources.push_back(dim_name());
  } else {
    const char* const sign = lexer_.at("*") ? "*" : "+";
    derived.kind = lexer_.at("*") ? Derivation::Kind::product : Derivation::Kind::sum;
    lexer_.expect(sign);
    do derived.sources.push_back(dim_name());
    while (lexer_.accept(sign));
  }
  if (derived.sources.size() > most_sources)
    lexer_.fail_at(first, fmt::format("a dimension of more than {} others", most_sources));
  try {
    d.size = derived_size(derived, [&](DimId source) { return m_.dim(source).size; });
  } catch (const UserError& error) {
    lexer_.fail_at(first, error.diagnostics().front().what);
  }
}

// `[begin:end:step]`
void ModuleParser::sliced(Derivation& derived) {
  lexer_.expect("[");
  const auto number = [&]() -> std::optional<std::int64_t> {
    if (lexer_.at(":") || lexer_.at("]")) return std::nullopt;
    const Token token = lexer_.peek();
    const Literal literal = parse_literal(lexer_);
    if (literal.scalar != Scalar::i64) lexer_.fail_at(token, "a bound of a slice is an i64");
    return literal.value.i;
  };
  derived.begin = number();
  lexer_.expect(":");
  derived.end = number();
  if (lexer_.accept(":")) {
    const Token token = lexer_.peek();
    derived.step = number().value_or(1);
    if (derived.step == 0) lexer_.fail_at(token, "a slice of step 0");
  }
  lexer_.expect("]");
}

bool ModuleParser::constant() {
  const Token name = lexer_.expect(TokenKind::name, "a constant's name");
  lexer_.expect("=");
  const Literal l = parse_literal(lexer_);
  m_.constants.push_back({std::string(name.text), l.scalar, l.value});
  return true;
}

bool ModuleParser::function() {
  const Token name = lexer_.expect(TokenKind::name, "a function's name");
  ScalarFunction fn;
  fn.name = std::string(name.text);
  const bool known =
      std::any_of(m_.functions.begin(), m_.functions.end(), [&](const auto& f) { return f.name == fn.name; });
  if (known) lexer_.fail_at(name, fmt::format("function '{}' is defined twice", fn.name));
  lexer_.expect("(");
  while (!lexer_.at(")")) {
    if (!fn.params.empty()) lexer_.expect(",");
    const Token param = lexer_.expect(TokenKind::name, "a parameter's name");
    lexer_.expect(":");
    ElementType type = parse_element_type(lexer_, m_);
    ElementRange range = element_range(type);
    fn.params.push_back({std::string(param.text), std::move(type), std::move(range)});
  }
  lexer_.expect(")");
  lexer_.expect("->");
  const Token at = lexer_.peek();
  const ElementType result = parse_element_type(lexer_, m_);
  lexer_.expect("=");
  fn.body = parse_expression(lexer_, fn.params);
  if (fn.result() != result) {
    lexer_.fail_at(at, fmt::format("function '{}' is declared to give {}", fn.name, print_element_type(m_, result)),
                   fmt::format("its expression gives {}", print_element_type(m_, fn.result())));
  }
  m_.functions.push_back(std::move(fn));
  return true;
}

// The number of a place of an element, after `at`.
size_t ModuleParser::element_place() {
  constexpr std::int64_t most_places = 1 << 20;
  return static_cast<size_t>(std::min(parse_integer(lexer_, "a place of the element"), most_places));
}

// In the form of range_text.
ElementRange ModuleParser::element_range(const ElementType& type) {
  if (!lexer_.at("at")) return as_declared(ElementRange(places_of(type), interval()));
  ElementRange range(places_of(type));
  for (Token at = lexer_.peek(); lexer_.accept("at"); at = lexer_.peek()) {
    const size_t i = element_place();
    if (i >= range.size()) lexer_.fail_at(at, fmt::format("the element has {} places, counted from 0", range.size()));
    range[i] = interval();
  }
  return as_declared(std::move(range));
}

// " > 0.0 <= 1.0 != 0.0", in the form of interval_text.
Interval ModuleParser::interval() {
  Interval range;
  for (;;) {
    const Token bound = lexer_.peek();
    const bool above = bound.text == ">" || bound.text == ">=";
    const bool below = bound.text == "<" || bound.text == "<=";
    if (bound.kind != TokenKind::symbol || (!above && !below && bound.text != "!=")) return range;
    lexer_.take();
    const Literal l = parse_literal(lexer_);
    if (!is_float(l.scalar) || l.value.f != l.value.f) lexer_.fail_at(bound, "a bound is a number such as 0.0");
    if (bound.text == "!=" && l.value.f != 0) lexer_.fail_at(bound, "only zero is excluded by itself");
    if (bound.text == "!=") range.not_zero = true;
    if (above) range.low = l.value.f;
    if (above) range.above = bound.text == ">";
    if (below) range.high = l.value.f;
    if (below) range.below = bound.text == "<";
  }
}

bool ModuleParser::assumption() {
  if (lexer_.peek().kind != TokenKind::string) return law(m_.assumptions);
  std::string name = unquoted(lexer_.take().text);
  const int place = lexer_.accept("at") ? static_cast<int>(element_place()) : -1;
  m_.ranges.push_back({std::move(name), interval(), place});
  return true;
}

bool ModuleParser::law(std::vector<LawUse>& uses) {
  const Token name = lexer_.expect(TokenKind::name, "a law");
  LawUse use;
  bool known = false;
  for (int k = 0; k <= static_cast<int>(LawKind::idempotent); ++k) {
    if (law_name(static_cast<LawKind>(k)) != name.text) continue;
    use.kind = static_cast<LawKind>(k);
    known = true;
  }
  if (!known) lexer_.fail_at(name, fmt::format("unknown law '{}'", name.text));
  lexer_.expect("(");
  use.fn = function_name();
  if (lexer_.accept(",")) use.reducer = function_name();
  lexer_.expect(")");
  lexer_.expect("operand");
  use.operand = static_cast<int>(std::min<std::int64_t>(parse_integer(lexer_, "an operand's number"), 1 << 20));
  lexer_.expect("by");
  use.basis = unquoted(lexer_.expect(TokenKind::string, "the basis of the law").text);
  use.where = place(name);
  uses.push_back(std::move(use));
  return true;
}

// `memory 16777216`
bool ModuleParser::memory() {
  const Token number = lexer_.peek();
  const std::int64_t bytes = parse_integer(lexer_, "bytes of memory");
  if (m_.memory > 0) lexer_.fail_at(number, "there is one limit of memory");
  if (bytes < 1) lexer_.fail_at(number, "a limit of no memory", "", "leave the line out for none");
  m_.memory = bytes;
  return true;
}

bool ModuleParser::buffer() {
  const Token name = lexer_.expect(TokenKind::buffer, "a buffer such as ~b0");
  if (name.text != fmt::format("b{}", m_.buffers.size())) {
    lexer_.fail_at(name, fmt::format("expected buffer ~b{}", m_.buffers.size()), "buffers are declared in order");
  }
  lexer_.expect(":");
  BufferDecl decl;
  decl.element = parse_element_type(lexer_, m_);
  dims(decl.dims, decl.cuts);
  while (lexer_.at("{")) decl.holds.push_back(slave_set());
  if (lexer_.accept("on")) {
    lexer_.expect("disk");
    decl.on_disk = true;
  }
  m_.buffers.push_back(std::move(decl));
  return true;
}

}  // namespace kasen::text
