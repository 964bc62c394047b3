// Tokens and statements.
#include "libcore/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kasen::lang {
namespace {

constexpr size_t max_faults = 10;

constexpr std::array<std::string_view, 34> keywords{
    "dim",    "const",    "param",  "input",  "fn",     "list", "while", "for",  "in",  "if",   "then",   "else",
    "output", "local",    "likely", "expect", "assume", "true", "false", "inf",  "nan", "over", "unroll", "dense",
    "sparse", "reversed", "f64",    "f32",    "i64",    "i32",  "bool",  "null", "id",  "push",
};

}  // namespace

bool is_keyword(std::string_view word) { return std::find(keywords.begin(), keywords.end(), word) != keywords.end(); }

const Token& Parser::peek(size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

const Token& Parser::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  next();
  return true;
}

bool Parser::accept_name(std::string_view word) {
  if (!peek().is_name(word)) return false;
  next();
  return true;
}

const Token& Parser::expect(std::string_view symbol, std::string_view where) {
  if (!peek().is(symbol)) unexpected(fmt::format("'{}' {}", symbol, where));
  return next();
}

void Parser::skip_newlines() {
  while (peek().kind == TokenKind::newline) next();
}

void Parser::end_statement() {
  if (peek().is("}") || peek().kind == TokenKind::end) return;
  if (peek().kind != TokenKind::newline) unexpected("the end of the statement (a new line or ';')");
  next();
}

NameAt Parser::new_name(std::string_view what) {
  const Token& token = peek();
  if (token.kind != TokenKind::name) unexpected(what);
  if (is_keyword(token.text)) {
    source_.fail(token.mark, fmt::format("'{}' cannot be a name", token.text), "it is a word of the language",
                 fmt::format("choose another, for example {}_", token.text));
  }
  next();
  return {std::string(token.text), token.mark};
}

std::vector<Statement> Parser::program() {
  std::vector<Statement> out;
  statements(out, true);
  if (!faults_.empty()) throw UserError(ExitStatus::bad_input, std::move(faults_));
  return out;
}

// Parses up to the closing brace (or the end). A statement with an error is reported and skipped, so that one run shows
// several errors.
void Parser::statements(std::vector<Statement>& out, bool top) {
  for (;;) {
    skip_newlines();
    if (top && peek().is("}")) {  // left over from a skipped statement
      next();
      continue;
    }
    if (peek().kind == TokenKind::end || peek().is("}")) return;
    try {
      statement(out, top);
      end_statement();
    } catch (const UserError& error) {
      faults_.insert(faults_.end(), error.diagnostics().begin(), error.diagnostics().end());
      if (faults_.size() >= max_faults) throw UserError(ExitStatus::bad_input, std::exchange(faults_, {}));
      recover();
    }
  }
}

// Skips to the end of the line, and over a whole block that begins there.
void Parser::recover() {
  int depth = 0;
  while (peek().kind != TokenKind::end) {
    if (depth == 0 && (peek().kind == TokenKind::newline || peek().is("}"))) return;
    if (peek().is("{")) ++depth;
    if (peek().is("}")) --depth;
    next();
  }
}

Statement Parser::begin(StatementKind kind) {
  Statement s;
  s.kind = kind;
  s.mark = next().mark;  // the keyword
  return s;
}

// A statement about a name, with its mark.
Statement Parser::named(StatementKind kind, std::string_view what) {
  Statement s;
  s.kind = kind;
  s.name = new_name(what);
  s.mark = s.name.mark;
  return s;
}

void Parser::statement(std::vector<Statement>& out, bool top) {
  const Token keyword = peek();
  if (keyword.kind != TokenKind::name) refuse_beginning();
  if (declaration(out, keyword, top)) return;
  if (keyword.text == "while") {
    out.push_back(while_loop());
  } else if (keyword.text == "for") {
    out.push_back(for_loop());
  } else if (keyword.text == "if") {
    out.push_back(if_else());
  } else if (keyword.text == "return" && begins(keyword)) {
    out.push_back(result());
  } else if (keyword.text == "break" && begins(keyword)) {
    out.push_back(break_loop());
  } else if (keyword.text == "push" && peek(1).is("(")) {
    out.push_back(push());
  } else {
    out.push_back(assignment());
  }
}

// Words that are names elsewhere: a program may have had values of that name before they were words.
bool Parser::begins(const Token& word) const {
  const Token& next = peek(1);
  const bool name = next.kind == TokenKind::name;
  if (word.text == "def") return name || next.is("(");
  if (word.text == "use") return name || next.kind == TokenKind::string;
  if (word.text == "break") return next.kind == TokenKind::newline || next.is("}");
  if (word.text != "return") return true;
  return def_blocks_ >= 0 ? !next.is("=") : name || next.kind == TokenKind::number || next.is("(");
}

// Declarations hold one or more items, separated by commas.
bool Parser::declaration(std::vector<Statement>& out, const Token& keyword, bool top) {
  using Make = Statement (*)(Parser&);
  enum class In { program, def, blocks };  // where it may stand
  struct Row {
    std::string_view word;
    In in;
    Make make;
  };
  static constexpr std::array<Row, 10> rows{{
      {"dim", In::def, [](Parser& p) { return p.dimension(); }},
      {"const", In::program, [](Parser& p) { return p.constant(StatementKind::constant); }},
      {"param", In::program, [](Parser& p) { return p.constant(StatementKind::param); }},
      {"input", In::program, [](Parser& p) { return p.input(); }},
      {"output", In::program, [](Parser& p) { return p.output(); }},
      {"assume", In::program, [](Parser& p) { return p.assume(); }},
      {"list", In::blocks, [](Parser& p) { return p.list(); }},
      {"fn", In::program, [](Parser& p) { return p.function(); }},
      {"def", In::program, [](Parser& p) { return p.definition(); }},
      {"use", In::program, [](Parser& p) { return p.use(); }},
  }};
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.word == keyword.text; });
  if (row == rows.end() || !begins(keyword)) return false;
  const bool own = row->in == In::blocks || (row->in == In::def && blocks_ == def_blocks_);
  if (!top && !own) {
    source_.fail(keyword.mark, fmt::format("'{}' inside a block", keyword.text), "it belongs to the program as a whole",
                 "move it out of the braces");
  }
  next();
  do {
    skip_newlines();
    out.push_back(row->make(*this));
  } while (accept(","));
  return true;
}

Statement Parser::dimension() {
  Statement s = named(StatementKind::dimension, "the name of a dimension");
  s.local = accept_name("local");
  s.workers = !s.local && accept_name("workers");
  if (accept_name("some")) {
    s.some = true;
    const NameAt source = new_name("the name of a dimension");
    s.value.push_back(make(NodeKind::name, source.mark));
    s.value.back().text = source.text;
  } else if (!s.workers && accept_name("fills")) {
    s.fills = true;
    s.value.push_back(expression());
  } else if (!s.workers && accept("=")) {
    if (peek().kind == TokenKind::name && peek(1).is("[")) {
      sliced_dimension(s);
    } else {
      s.value.push_back(expression());
    }
  }
  if (s.local && peek().is_name("workers")) {
    unexpected("the end of the statement",
               fmt::format("write dim {} workers: each worker holds one index of it", s.name.text));
  }
  if (peek().is_name("local")) {
    unexpected("the end of the statement",
               fmt::format("write dim {} local = size: 'local' stands before the size", s.name.text));
  }
  return s;
}

Statement Parser::constant(StatementKind kind) {
  Statement s = named(kind, "a name");
  if (accept(":")) s.type.push_back(type());
  const bool array = !s.type.empty() && !s.type[0].dims.empty();
  if (array && kind == StatementKind::param && !peek().is("="))
    unexpected("'=' and the file of the array",
               fmt::format("write = \"{0}.csv\", or input {0} : ... whose file the command names", s.name.text));
  expect("=", kind == StatementKind::param ? "and the default" : "and the value");
  if (peek().kind == TokenKind::string) return with_file(std::move(s));
  s.value.push_back(expression());
  return s;
}

// `output e` is allowed for a plain name only: any other expression needs a name for the result.
Statement Parser::output() {
  Statement s = named(StatementKind::output, "the name of a result");
  if (accept("=")) {
    s.value.push_back(expression());
    return s;
  }
  s.value.push_back(make(NodeKind::name, s.mark));
  s.value[0].text = s.name.text;
  const bool ends = peek().kind == TokenKind::newline || peek().is(",") || peek().kind == TokenKind::end;
  if (!ends) {
    unexpected("the end of the statement, or a comma",
               peek().kind == TokenKind::name ? fmt::format("write output {}, {}", s.name.text, peek().text)
                                              : "give an expression a name: output result = ...");
  }
  return s;
}

Statement Parser::assume() {
  if (peek(1).text != "(") {
    Statement range;
    range.kind = StatementKind::assume;
    range.mark = peek().mark;
    range.value.push_back(expression());
    return range;
  }
  Statement s = named(StatementKind::assume, "a law, for example associative(f)");
  expect("(", "and the function");
  do s.arguments.push_back(argument());
  while (accept(","));
  expect(")", "after the arguments");
  return s;
}

Statement Parser::list() {
  Statement s = named(StatementKind::list, "the name of a list");
  expect("[", "and the length of the list");
  s.index.push_back(expression());
  expect("]", "after the length");
  expect(":", "and the type of its arrays");
  s.type.push_back(type());
  expect("=", "and the first value of its arrays");
  s.value.push_back(expression());
  return s;
}

std::vector<Statement> Parser::block() {
  if (peek().kind == TokenKind::newline && peek(1).is("{"))
    unexpected("'{'", "write the brace at the end of this line");
  if (peek().is(":")) unexpected("'{' and the block", "blocks stand in braces, without a colon: if c { break }");
  expect("{", "and the block");
  const Nesting nesting = nested(blocks_, max_block_depth);
  std::vector<Statement> out;
  statements(out, false);
  expect("}", "at the end of the block");
  return out;
}

void Parser::loop_flags(Statement& loop) {
  for (;;) {
    if (accept_name("likely")) {
      loop.likely = true;
    } else if (loop.kind == StatementKind::for_loop && accept_name("unroll")) {
      loop.unroll = true;
    } else if (loop.kind != StatementKind::if_else && loop.expect.empty() && accept_name("expect")) {
      loop.expect.push_back(expression());
    } else {
      return;
    }
  }
}

Statement Parser::while_loop() {
  Statement s = begin(StatementKind::while_loop);
  s.value.push_back(expression());
  loop_flags(s);
  s.body = loop_body();
  return s;
}

Statement Parser::for_loop() {
  Statement s = begin(StatementKind::for_loop);
  constexpr std::string_view form = "write for i in 0..n { ... }: i is 0, 1, ..., n - 1";
  if (peek().is("(")) unexpected("the name of the loop's variable", form);
  s.name = new_name("the name of the loop's variable");
  if (!accept_name("in")) unexpected("'in' and the range", form);
  s.down = accept_name("reversed");
  if (s.down) expect("(", "and the range");
  s.index.push_back(expression());
  const bool call = s.index[0].kind == NodeKind::call;
  const bool blocks = call && s.index[0].text == "blocks" && !peek().is("..");
  if (!blocks) {
    const bool batches = call && s.index[0].text == "batches";
    if (!peek().is("..")) unexpected("'..' and the end of the range", batches ? "write for B in blocks(N, 64)" : form);
    next();
    s.value.push_back(expression());
  }
  if (s.down) expect(")", "after the range");
  loop_flags(s);
  s.body = loop_body();
  return s;
}

std::vector<Statement> Parser::loop_body() {
  const Nesting inside(loops_);
  return block();
}

// Ends the loop around it. What follows it in its block would never be reached.
Statement Parser::break_loop() {
  const Mark mark = peek().mark;
  if (loops_ == 0) {
    source_.fail(mark, "'break' outside of a loop", "it ends the loop around it",
                 "write it into the block of a while or a for: if c { break }");
  }
  Statement s = begin(StatementKind::break_loop);
  skip_newlines();
  if (!peek().is("}")) {
    source_.fail(peek().mark, "this statement is never reached", "a break stands before it",
                 "write if c { break }, or leave it out");
  }
  return s;
}

Statement Parser::if_else() {
  Statement s = begin(StatementKind::if_else);
  s.value.push_back(expression());
  if (peek().is_name("then")) {
    source_.fail(s.mark, "'if ... then ... else' is an expression", "a statement gives a name a value",
                 "write 'name = if ... then ... else ...', or a block in braces");
  }
  loop_flags(s);
  s.body = block();
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::newline) ++ahead;
  if (!peek(ahead).is_name("else")) return s;
  at_ += ahead + 1;
  if (peek().is_name("if")) {
    const Nesting nesting = nested(blocks_, max_block_depth);
    s.other.push_back(if_else());
  } else {
    s.other = block();
  }
  return s;
}

std::vector<Statement> parse_program(const SourceText& source) { return Parser(source).program(); }

Node parse_expression(const SourceText& source) { return Parser(source).lone_expression(); }

}  // namespace kasen::lang
