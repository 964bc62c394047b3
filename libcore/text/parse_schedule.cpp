// Parses the schedule at the end of a block.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/ir/regions.h"
#include "libcore/text/parse.h"

namespace kasen::text {
namespace {

constexpr std::array<std::pair<std::string_view, LineKind>, 9> kinds{{{"alloc", LineKind::alloc},
                                                                      {"whole", LineKind::whole},
                                                                      {"form", LineKind::form},
                                                                      {"free", LineKind::free},
                                                                      {"run", LineKind::run},
                                                                      {"start", LineKind::start},
                                                                      {"wait", LineKind::wait},
                                                                      {"move", LineKind::move},
                                                                      {"copy", LineKind::copy}}};

}  // namespace

void ModuleParser::schedule(Block& block) {
  if (!lexer_.at("schedule")) return;
  const Token word = lexer_.take();
  if (m_.level < 4) lexer_.fail_at(word, "a schedule in a module below level 4", "", "write level 4 in its first line");
  scheduled_.clear();
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const Op& op = block.ops[i];
    if (!op.results.empty()) scheduled_.emplace(op.results[0], static_cast<int>(i));
    if (is_epilogue(op) && op.blocks[0].ops.size() > 1 && !epilogue_gather(op).results.empty())
      scheduled_.emplace(epilogue_gather(op).results[0], static_cast<int>(i));
  }
  lexer_.expect("{");
  while (!lexer_.accept("}")) block.schedule.push_back(schedule_line(block));
}

ScheduleLine ModuleParser::schedule_line(const Block& block) {
  const Token word = lexer_.expect(TokenKind::name, "a line of the schedule");
  const auto* const kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == word.text; });
  if (kind == kinds.end())
    lexer_.fail_at(word, fmt::format("unknown line '{}' of a schedule", word.text), "",
                   "lines begin with alloc, whole, form, free, run, start, wait, move or copy; behind run %x may stand "
                   "ready, ghosts, rest or joined");
  ScheduleLine line;
  line.kind = kind->second;
  line.where = lexer_.source().location(word.mark);
  const auto listed = [&] {
    do {
      if (lexer_.peek().kind == TokenKind::buffer) {
        line.buffers.push_back(buffer_number(lexer_.take()));
      } else {
        line.values.push_back(use());
      }
    } while (lexer_.accept(","));
  };
  switch (line.kind) {
    case LineKind::alloc:
    case LineKind::whole:
    case LineKind::move:
    case LineKind::copy:
      listed();
      return line;
    case LineKind::form:
      line.form = small_integer("a form's number");
      lexer_.expect("for");
      listed();
      return line;
    case LineKind::free:
      lexer_.expect("form");
      line.form = small_integer("a form's number");
      return line;
    case LineKind::run:
      line.op = scheduled_op(block);
      line.rows = scheduled_rows();
      return line;
    case LineKind::start:
    case LineKind::wait:
      scheduled_ops(block, line);
      return line;
  }
  return line;
}

// By its first result or its gather's, by an output's name, or by its place among the block's operators.
int ModuleParser::scheduled_op(const Block& block) {
  const Token name = lexer_.peek();
  const auto none = [&]() {
    lexer_.fail_at(name, "a line names no operator of its block", "a schedule orders the operators of its block");
  };
  if (lexer_.accept("op")) {
    const int at = small_integer("an operator's place");
    if (std::cmp_greater_equal(at, block.ops.size())) none();
    return at;
  }
  if (lexer_.accept("output")) {
    const std::string text = unquoted(lexer_.expect(TokenKind::string, "a name in quotes").text);
    const auto found = std::find_if(block.ops.begin(), block.ops.end(),
                                    [&](const Op& op) { return op.code == OpCode::output && op.name == text; });
    if (found == block.ops.end()) none();
    return static_cast<int>(found - block.ops.begin());
  }
  const auto found = scheduled_.find(use());
  if (found == scheduled_.end()) none();
  return found->second;
}

void ModuleParser::scheduled_ops(const Block& block, ScheduleLine& line) {
  line.op = scheduled_op(block);
  while (lexer_.accept(",")) {
    const Token name = lexer_.peek();
    if (scheduled_op(block) != line.op + line.count)
      lexer_.fail_at(name, "operators that travel together do not follow one another", "",
                     "list them in their order, without others between them");
    ++line.count;
  }
}

LineRows ModuleParser::scheduled_rows() {
  for (const LineRows rows : {LineRows::ready, LineRows::ghosts, LineRows::rest, LineRows::joined}) {
    if (lexer_.accept(rows_name(rows))) return rows;
  }
  return LineRows::all;
}

}  // namespace kasen::text
