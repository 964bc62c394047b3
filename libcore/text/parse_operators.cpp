// Parses operators: head, types, location, and the blocks of loops, branches and regions.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/regions.h"
#include "libcore/text/parse.h"

namespace kasen::text {
namespace {
constexpr int deepest_block = 64;
}

ValueId ModuleParser::use() {
  const Token token = lexer_.expect(TokenKind::value, "a value such as %x");
  const auto it = values_.find(std::string(token.text));
  if (it == values_.end())
    lexer_.fail_at(token, fmt::format("unknown value '%{}'", token.text), "it must be defined before it is used");
  return it->second;
}

void ModuleParser::operands(Op& op) {
  if (lexer_.peek().kind != TokenKind::value) return;
  do op.operands.push_back(use());
  while (lexer_.accept(","));
}

void ModuleParser::literal_words(Op& op) {
  literals_.clear();
  if (!lexer_.accept("(")) return literal_word(op);
  do literal_word(op);
  while (lexer_.accept(","));
  lexer_.expect(")");
}

void ModuleParser::literal_word(Op& op) {
  const Token token = lexer_.peek();
  const Literal literal = parse_literal(lexer_);
  literals_.push_back({token, literal.scalar});
  op.literal.push_back(literal.value);
}

// Checks that each literal has its plane's type; the verifier checks their number. Ids are written as i64.
void ModuleParser::check_literals(const Value& result) const {
  const ElementType& element = result.type.element;
  for (size_t p = 0; p < literals_.size() && std::cmp_less(p, element.planes()); ++p) {
    const Scalar wanted = element.plane_scalar(static_cast<std::int64_t>(p));
    const Scalar written = literals_[p].scalar;
    if (written == wanted || (wanted == Scalar::id && written == Scalar::i64)) continue;
    lexer_.fail_at(literals_[p].token,
                   fmt::format("a literal of type {} for %{}, which holds {}", scalar_name(written), result.name,
                               print_element_type(m_, element)),
                   "literals are typed, and nothing is converted", "write 1.0 for f64, 1.0f32, 1 for i64, 1i32, true");
  }
}

void ModuleParser::function_names(Op& op) {
  while (!lexer_.at("]") && !lexer_.at(";")) {
    if (!op.fns.empty()) lexer_.expect(",");
    op.fns.push_back(function_name());
  }
}

// `[f, g; ij, jk -> ik]`; a single value has no letters.
void ModuleParser::labels(Op& op) {
  lexer_.expect("[");
  function_names(op);
  lexer_.expect(";");
  const auto letters = [&] {
    return lexer_.peek().kind == TokenKind::name ? std::string(lexer_.expect(TokenKind::name, "labels").text)
                                                 : std::string();
  };
  Labels found;
  do found.operands.push_back(letters());
  while (lexer_.accept(","));
  lexer_.expect("->");
  found.result = letters();
  lexer_.expect("]");
  op.name = labels_text(found);
}

void ModuleParser::onto(Op& op) {
  const Token token = lexer_.peek();
  if (!lexer_.accept("onto")) return;
  if (op.operands.size() != 2) lexer_.fail_at(token, "'onto' stands behind two operands", "write %a, %b onto %c");
  op.operands.push_back(use());
}

void ModuleParser::functions(Op& op) {
  if (!lexer_.accept("[")) return;
  const bool bare = row(op.code).counts.fns == 0 && lexer_.accept("over");
  if (!bare) function_names(op);
  if (bare || lexer_.accept(";")) {
    if (!bare) lexer_.expect("over");
    do op.over.push_back(dim_name());
    while (lexer_.accept(","));
  }
  lexer_.expect("]");
}

void ModuleParser::carried(Op& op) {
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

void ModuleParser::name_text(Op& op) { op.name = unquoted(lexer_.expect(TokenKind::string, "a name in quotes").text); }

void ModuleParser::head(Op& op) {
  switch (row(op.code).text) {
    case TextForm::functions:
      functions(op);
      return operands(op);
    case TextForm::name:
      return name_text(op);
    case TextForm::named:
      name_text(op);
      return operands(op);
    case TextForm::words:
      return literal_words(op);
    case TextForm::default_words:
      name_text(op);
      lexer_.expect("=");
      return literal_words(op);
    case TextForm::dim:
      lexer_.expect("[");
      op.dim = dim_name();
      lexer_.expect("]");
      return;
    case TextForm::observed:
      lexer_.expect("[");
      op.dim = dim_name();
      lexer_.expect("]");
      return operands(op);
    case TextForm::relayout:
      if (!lexer_.at("[")) return operands(op);
      [[fallthrough]];
    case TextForm::derived:
      lexer_.expect("[");
      op.dim = dim_name();
      lexer_.expect("of");
      do op.over.push_back(dim_name());
      while (lexer_.accept(","));
      if ((op.code == OpCode::slice || op.code == OpCode::relayout) && lexer_.accept(";")) displaced(op);
      lexer_.expect("]");
      return operands(op);
    case TextForm::dim_of:
      lexer_.expect("[");
      op.dim = dim_name();
      lexer_.expect("of");
      op.over = {dim_name()};
      lexer_.expect("]");
      return operands(op);
    case TextForm::along:
      lexer_.expect("[");
      op.over = {dim_name()};
      lexer_.expect("]");
      return operands(op);
    case TextForm::labels:
      labels(op);
      operands(op);
      return onto(op);
    case TextForm::rows:
      functions(op);
      operands(op);
      lexer_.expect("rows");
      op.at_rows = small_integer("the number of operands over rows");
      return;
    case TextForm::while_loop:
      op.blocks.resize(1);
      carried(op);
      lexer_.expect("test");
      op.test = small_integer("a carried value's number");
      return;
    case TextForm::for_loop:
      return for_head(op);
    case TextForm::region:
      return region_head(op);
  }
}

// `by -1`
void ModuleParser::displaced(Op& slice) {
  literals_.clear();
  lexer_.expect("by");
  const Token token = lexer_.peek();
  const Literal number = parse_literal(lexer_);
  if (number.scalar != Scalar::i64 || number.value.i == 0) {
    lexer_.fail_at(token, "a displacement that is no i64, or 0", "", "leave '; by' out for none");
  }
  displace(slice, number.value.i);
}

int ModuleParser::small_integer(std::string_view what) {
  return static_cast<int>(std::min<std::int64_t>(parse_integer(lexer_, what), 1 << 20));
}

void ModuleParser::for_head(Op& op) {
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

void ModuleParser::region_head(Op& op) {
  const Token kind = lexer_.expect(TokenKind::name, "a region's kind");
  const RegionRow* known = find_region(kind.text);
  if (known == nullptr) lexer_.fail_at(kind, fmt::format("unknown region kind '{}'", kind.text));
  op.kind = known->kind;
  op.blocks.resize(1);
  if (is_blocks(op)) {
    grid(op);
    return carried(op);
  }
  lexer_.expect("(");
  operands(op);
  lexer_.expect(")");
}

// `at 3:7`: in the program's text. Without it, an operator has its location in this text.
Location ModuleParser::place(const Token& begin) {
  if (!lexer_.accept("at")) return lexer_.source().location(begin.mark);
  Location where;
  where.file = lexer_.peek().kind == TokenKind::string ? unquoted(lexer_.take().text) : m_.source_name;
  const auto small = [&](const char* what) {
    return static_cast<int>(std::min<std::int64_t>(parse_integer(lexer_, what), 1 << 30));
  };
  where.line = small("a line");
  lexer_.expect(":");
  where.column = small("a column");
  return where;
}

// Parses ` on [0*2] likely speculated expect 30 : types at 3:7`, then the blocks.
void ModuleParser::tail(Op& op, const std::vector<Token>& results, const Token& begin) {
  if (lexer_.accept("on")) workers_of_tasks(op);
  if (lexer_.accept("tree")) additions(op);
  op.likely = lexer_.accept("likely");
  op.speculated = lexer_.accept("speculated");
  if (lexer_.accept("expect")) op.expect = parse_integer(lexer_, "a trip count");
  // Results are parsed here, but become known only after the blocks.
  std::vector<Value> made;
  if (!results.empty()) lexer_.expect(":");
  for (size_t i = 0; i < results.size(); ++i) {
    if (i > 0) lexer_.expect(",");
    made.push_back({std::string(results[i].text), type(), no_buffer});
    if (lexer_.peek().kind == TokenKind::buffer) made.back().buffer = buffer_number(lexer_.take());
  }
  op.where = place(begin);
  if (!op.literal.empty() && !made.empty()) check_literals(made[0]);
  inner_blocks(op);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!values_.emplace(made[i].name, m_.values.end_id()).second) {
      lexer_.fail_at(results[i], fmt::format("%{} is defined twice", results[i].text));
    }
    op.results.push_back(m_.values.push_back(std::move(made[i])));
  }
}

void ModuleParser::inner_blocks(Op& op) {
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

Op ModuleParser::operation() {
  std::vector<Token> results;
  const Token begin = lexer_.peek();
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
  tail(op, results, begin);
  return op;
}

// Parses from after the opening brace up to and including the closing one.
Block ModuleParser::block() {
  if (++depth_ > deepest_block) lexer_.fail_at(lexer_.peek(), "blocks are nested too deeply");
  Block b;
  while (!lexer_.at("}") && !lexer_.at("schedule")) b.ops.push_back(operation());
  schedule(b);
  lexer_.expect("}");
  --depth_;
  return b;
}

}  // namespace kasen::text
