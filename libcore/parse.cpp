// Reading the text of a module. The parser only builds: what the text means is the verifier's to judge.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "libcore/module.h"
#include "libcore/text_lexer.h"
#include "libcore/text_scalar.h"

namespace kasen {
namespace {

constexpr int deepest_block = 64;
constexpr std::int64_t newest_version = 1;
constexpr std::int64_t highest_level = 3;

std::string unquoted(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

// What stands above `module`: version, history and the program's own lines, which are not tokens.
struct Preamble {
  int level = 1;
  std::vector<std::string> history, source;
  std::string source_name;
  size_t rest = 0;  // where tokens begin
  int rest_line = 1;
};

class PreambleReader {
 public:
  PreambleReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Preamble read() {
    version(next_line());
    for (;;) {
      const size_t start = place_;
      const int line = line_;
      if (place_ >= text_.size()) return finish(start, line);
      const std::string_view content = next_line();
      if (content.starts_with("##end")) return finish(start, line);
      if (content.starts_with("## ")) {
        result_.history.emplace_back(content.substr(3));
      } else if (content.starts_with("source \"") && content.ends_with('"') && content.size() >= 9) {
        result_.source_name = unquoted(content.substr(8, content.size() - 9));
      } else if (content.starts_with('|')) {
        result_.source.emplace_back(content.substr(content.starts_with("| ") ? 2 : 1));
      } else if (!content.empty() && !content.starts_with('#')) {
        return finish(start, line);
      }
    }
  }

 private:
  [[noreturn]] void fault(std::string what, std::string why, std::string remedy) const {
    fail(ExitStatus::bad_input, std::move(what), std::move(why), std::move(remedy), Location{file_, 1, 1});
  }

  void version(std::string_view line) {
    TextLexer lexer(line, file_, 1);
    if (!lexer.accept("kir"))
      fault("this is not Kasen IR", "it does not begin with 'kir'", "give the output of kasen plan or fuse");
    const std::int64_t number = parse_integer(lexer, "a version");
    if (number > newest_version || number < 1) {
      fault(fmt::format("Kasen IR version {}", number), fmt::format("this tool reads version {}", newest_version),
            "use a newer Kasen, or plan the program again");
    }
    lexer.expect("level");
    const std::int64_t level = parse_integer(lexer, "a level");
    if (level < 1 || level > highest_level)
      fault(fmt::format("no level {}", level), "levels are 1, 2 and 3", "plan the program again");
    result_.level = static_cast<int>(level);
  }

  std::string_view next_line() {
    const size_t stop = std::min(text_.find('\n', place_), text_.size());
    std::string_view line = text_.substr(place_, stop - place_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    place_ = stop + 1;
    ++line_;
    return line;
  }

  Preamble finish(size_t rest, int line) {
    result_.rest = std::min(rest, text_.size());
    result_.rest_line = line;
    return std::move(result_);
  }

  std::string_view text_;
  const std::string& file_;
  size_t place_ = 0;
  int line_ = 1;
  Preamble result_;
};

class ModuleParser {
 public:
  ModuleParser(std::string_view text, const std::string& file, Module& module, int first_line)
      : lexer_(text, file, first_line), m_(module) {}

  void parse() {
    lexer_.expect("module");
    m_.name = std::string(lexer_.expect(TokenKind::name, "the module's name").text);
    lexer_.expect("{");
    while (declaration()) {
    }
    m_.body = block();
    if (lexer_.peek().kind != TokenKind::end) lexer_.fail_at(lexer_.peek(), "text after the module's end");
  }

 private:
  // --- declarations -------------------------------------------------------------------------------------------
  bool declaration() {
    if (lexer_.accept("dim")) return dimension();
    if (lexer_.accept("const")) return constant();
    if (lexer_.accept("fn")) return function();
    if (lexer_.accept("assume")) return assumption();
    if (lexer_.accept("law")) return law(m_.laws);
    if (lexer_.accept("buffer")) return buffer();
    if (!lexer_.accept("fitted")) return false;
    m_.fitted_to = unquoted(lexer_.expect(TokenKind::string, "a digest").text);
    return true;
  }

  bool dimension() {
    const Token name = lexer_.expect(TokenKind::name, "a dimension's name");
    if (m_.find_dim(name.text) != no_dim)
      lexer_.fail_at(name, fmt::format("dimension '{}' is declared twice", name.text));
    Dimension d{std::string(name.text), lexer_.accept("local"), -1};
    if (lexer_.accept("=")) d.size = parse_integer(lexer_, "a size");
    m_.dims.push_back(std::move(d));
    return true;
  }

  bool constant() {
    const Token name = lexer_.expect(TokenKind::name, "a constant's name");
    lexer_.expect("=");
    const Literal l = parse_literal(lexer_);
    m_.constants.push_back({std::string(name.text), l.scalar, l.value});
    return true;
  }

  bool function() {
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
      fn.params.push_back({std::string(param.text), std::move(type), interval()});
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

  // " > 0.0 <= 1.0 != 0.0", as interval_text writes it.
  Interval interval() {
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

  bool assumption() {
    if (lexer_.peek().kind != TokenKind::string) return law(m_.assumptions);
    std::string name = unquoted(lexer_.take().text);
    m_.ranges.push_back({std::move(name), interval()});
    return true;
  }

  bool law(std::vector<LawUse>& uses) {
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
    use.basis = unquoted(lexer_.expect(TokenKind::string, "what the law rests on").text);
    uses.push_back(std::move(use));
    return true;
  }

  bool buffer() {
    const Token name = lexer_.expect(TokenKind::buffer, "a buffer such as ~b0");
    if (name.text != fmt::format("b{}", m_.buffers.size())) {
      lexer_.fail_at(name, fmt::format("expected buffer ~b{}", m_.buffers.size()), "buffers are declared in order");
    }
    lexer_.expect(":");
    BufferDecl decl;
    decl.element = parse_element_type(lexer_, m_);
    decl.dims = dims();
    while (lexer_.at("{")) decl.holds.push_back(slave_set());
    m_.buffers.push_back(std::move(decl));
    return true;
  }

  FnId function_name() {
    const Token name = lexer_.expect(TokenKind::name, "a function's name");
    for (size_t i = 0; i < m_.functions.size(); ++i) {
      if (m_.functions[i].name == name.text) return static_cast<FnId>(i);
    }
    lexer_.fail_at(name, fmt::format("unknown function '{}'", name.text));
  }

  DimId dim_name() {
    const Token name = lexer_.expect(TokenKind::name, "a dimension");
    const DimId d = m_.find_dim(name.text);
    if (d == no_dim) lexer_.fail_at(name, fmt::format("unknown dimension '{}'", name.text));
    return d;
  }

  std::vector<DimId> dims() {
    std::vector<DimId> result;
    if (!lexer_.accept("[")) return result;
    do result.push_back(dim_name());
    while (lexer_.accept(","));
    lexer_.expect("]");
    return result;
  }

  // --- types --------------------------------------------------------------------------------------------------
  SlaveSet slave_set() {
    SlaveSet set;
    lexer_.expect("{");
    while (!lexer_.at("}")) {
      if (!set.empty()) lexer_.expect(",");
      SlaveAtom atom;
      atom.matrix = std::string(lexer_.expect(TokenKind::name, "a matrix").text);
      lexer_.expect(".");
      const Token axis = lexer_.expect(TokenKind::name, "rows or cols");
      if (axis.text != "rows" && axis.text != "cols") lexer_.fail_at(axis, "expected rows or cols");
      atom.axis = axis.text == "rows" ? Axis::rows : Axis::cols;
      set.push_back(std::move(atom));
    }
    lexer_.expect("}");
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
  }

  State state() {
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
      lexer_.fail_at(name, fmt::format("unknown state '@{}'", name.text), "",
                     "use @?, @part, @cons{..} or @pre(f){..}");
    }
    const bool with_set = s.is_cons() || s.is_pre();
    if (with_set && set_follows()) s.slaves = slave_set();
    return s;
  }

  // A `{` after @cons begins a slave set or a block: a set is empty or begins `name .`.
  bool set_follows() {
    if (!lexer_.at("{")) return false;
    TextLexer ahead = lexer_;
    ahead.take();
    if (ahead.at("}")) return true;
    if (ahead.take().kind != TokenKind::name) return false;
    return ahead.at(".");
  }

  Type type() {
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
    t.state = state();
    return t;
  }

  // Type and buffer of a value named by `token`; the value becomes known to what follows.
  ValueId define(const Token& token) {
    const std::string name(token.text);
    if (values_.contains(name)) lexer_.fail_at(token, fmt::format("%{} is defined twice", name));
    Value v{name, type(), no_buffer};
    if (lexer_.peek().kind == TokenKind::buffer) v.buffer = buffer_number(lexer_.take());
    m_.values.push_back(std::move(v));
    const auto id = static_cast<ValueId>(m_.values.size()) - 1;
    values_.emplace(name, id);
    return id;
  }

  BufferId buffer_number(const Token& token) {
    for (size_t i = 0; i < m_.buffers.size(); ++i) {
      if (token.text == fmt::format("b{}", i)) return static_cast<BufferId>(i);
    }
    lexer_.fail_at(token, fmt::format("unknown buffer '~{}'", token.text));
  }

  // --- operators ----------------------------------------------------------------------------------------------
  ValueId use() {
    const Token token = lexer_.expect(TokenKind::value, "a value such as %x");
    const auto it = values_.find(std::string(token.text));
    if (it == values_.end())
      lexer_.fail_at(token, fmt::format("unknown value '%{}'", token.text), "it must be defined before it is used");
    return it->second;
  }

  void operands(Op& op) {
    if (lexer_.peek().kind != TokenKind::value) return;
    do op.operands.push_back(use());
    while (lexer_.accept(","));
  }

  void literal_words(Op& op) {
    if (!lexer_.accept("(")) {
      op.literal.push_back(parse_literal(lexer_).value);
      return;
    }
    do op.literal.push_back(parse_literal(lexer_).value);
    while (lexer_.accept(","));
    lexer_.expect(")");
  }

  void functions(Op& op) {
    if (!lexer_.accept("[")) return;
    while (!lexer_.at("]") && !lexer_.at(";")) {
      if (!op.fns.empty()) lexer_.expect(",");
      op.fns.push_back(function_name());
    }
    if (lexer_.accept(";")) {
      lexer_.expect("over");
      do op.over.push_back(dim_name());
      while (lexer_.accept(","));
    }
    lexer_.expect("]");
  }

  void carried(Op& op) {
    lexer_.expect("(");
    while (!lexer_.at(")")) {
      if (!op.blocks[0].args.empty() && lexer_.peek().kind != TokenKind::value) lexer_.expect(",");
      const Token name = lexer_.expect(TokenKind::value, "a carried value");
      lexer_.expect(":");
      const ValueId arg = define(name);
      lexer_.expect("=");
      op.operands.push_back(use());
      op.blocks[0].args.push_back(arg);
    }
    lexer_.expect(")");
  }

  void name_text(Op& op) { op.name = unquoted(lexer_.expect(TokenKind::string, "a name in quotes").text); }

  void head(Op& op) {
    switch (op.code) {
      case OpCode::input:
        name_text(op);
        return;
      case OpCode::param:
        name_text(op);
        lexer_.expect("=");
        literal_words(op);
        return;
      case OpCode::literal:
      case OpCode::fill:
        literal_words(op);
        return;
      case OpCode::index:
      case OpCode::size:
        lexer_.expect("[");
        op.dim = dim_name();
        lexer_.expect("]");
        return;
      case OpCode::while_loop:
        op.blocks.resize(1);
        carried(op);
        lexer_.expect("test");
        op.test = static_cast<int>(std::min<std::int64_t>(parse_integer(lexer_, "a carried value's number"), 1 << 20));
        return;
      case OpCode::for_loop:
        for_head(op);
        return;
      case OpCode::region:
        region_head(op);
        return;
      case OpCode::output:
        name_text(op);
        operands(op);
        return;
      default:
        functions(op);
        operands(op);
    }
  }

  void for_head(Op& op) {
    op.blocks.resize(1);
    const Token name = lexer_.expect(TokenKind::value, "the loop's index");
    lexer_.expect(":");
    op.blocks[0].args.push_back(define(name));
    lexer_.expect("in");
    op.operands.push_back(use());
    lexer_.expect(",");
    op.operands.push_back(use());
    op.down = lexer_.accept("down");
    carried(op);
  }

  void region_head(Op& op) {
    const Token kind = lexer_.expect(TokenKind::name, "a region's kind");
    bool known = false;
    for (const RegionKind k : {RegionKind::iter_on_vec, RegionKind::mxm, RegionKind::product_epilogue}) {
      if (region_name(k) != kind.text) continue;
      op.kind = k;
      known = true;
    }
    if (!known) lexer_.fail_at(kind, fmt::format("unknown region kind '{}'", kind.text));
    op.blocks.resize(1);
    lexer_.expect("(");
    operands(op);
    lexer_.expect(")");
  }

  // ` likely speculated expect 30 : types at 3:7`, then the blocks.
  void tail(Op& op, const std::vector<Token>& results) {
    op.likely = lexer_.accept("likely");
    op.speculated = lexer_.accept("speculated");
    if (lexer_.accept("expect")) op.expect = parse_integer(lexer_, "a trip count");
    // Results become known only behind the blocks: they are parsed here and entered there.
    std::vector<Value> made;
    if (!results.empty()) lexer_.expect(":");
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) lexer_.expect(",");
      made.push_back({std::string(results[i].text), type(), no_buffer});
      if (lexer_.peek().kind == TokenKind::buffer) made.back().buffer = buffer_number(lexer_.take());
    }
    if (lexer_.accept("at")) {
      op.where.file = lexer_.peek().kind == TokenKind::string ? unquoted(lexer_.take().text) : m_.source_name;
      const auto small = [&](const char* what) {
        return static_cast<int>(std::min<std::int64_t>(parse_integer(lexer_, what), 1 << 30));
      };
      op.where.line = small("a line");
      lexer_.expect(":");
      op.where.column = small("a column");
    }
    inner_blocks(op);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!values_.emplace(made[i].name, static_cast<ValueId>(m_.values.size())).second) {
        lexer_.fail_at(results[i], fmt::format("%{} is defined twice", results[i].text));
      }
      op.results.push_back(static_cast<ValueId>(m_.values.size()));
      m_.values.push_back(std::move(made[i]));
    }
  }

  void inner_blocks(Op& op) {
    if (op.code == OpCode::if_else) {
      op.blocks.resize(2);
      lexer_.expect("{");
      op.blocks[0] = block();
      lexer_.expect("else");
    }
    if (op.blocks.empty()) return;
    lexer_.expect("{");
    std::vector<ValueId> args = std::move(op.blocks.back().args);
    op.blocks.back() = block();
    op.blocks.back().args = std::move(args);
  }

  Op operation() {
    std::vector<Token> results;
    while (lexer_.peek().kind == TokenKind::value) {
      results.push_back(lexer_.take());
      if (!lexer_.accept(",")) break;
    }
    if (!results.empty()) lexer_.expect("=");
    const Token name = lexer_.expect(TokenKind::name, "an operator");
    const OpRow* r = find_op(name.text);
    if (r == nullptr) lexer_.fail_at(name, fmt::format("unknown operator '{}'", name.text));
    Op op;
    op.code = r->code;
    head(op);
    tail(op, results);
    return op;
  }

  // After the opening brace, up to and with the closing one.
  Block block() {
    if (++depth_ > deepest_block) lexer_.fail_at(lexer_.peek(), "blocks are nested too deeply");
    Block b;
    while (!lexer_.accept("}")) b.ops.push_back(operation());
    --depth_;
    return b;
  }

  TextLexer lexer_;
  Module& m_;
  std::map<std::string, ValueId> values_;
  int depth_ = 0;
};

}  // namespace

Module parse_module(std::string_view text, const std::string& file) {
  Preamble head = PreambleReader(text, file).read();
  std::string_view whole = text;
  while (!whole.empty() && (whole.back() == '\n' || whole.back() == '\r' || whole.back() == ' '))
    whole.remove_suffix(1);
  if (!whole.ends_with("\n##end")) {
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    fail(ExitStatus::bad_input, "the IR is cut off", "its last line is not '##end'",
         "the tool before this one failed, or the file is incomplete", Location{file, std::max(lines, 1), 0});
  }
  Module module;
  module.level = head.level;
  module.history = std::move(head.history);
  module.source = std::move(head.source);
  module.source_name = std::move(head.source_name);
  ModuleParser(text.substr(head.rest), file, module, head.rest_line).parse();
  return module;
}

}  // namespace kasen
