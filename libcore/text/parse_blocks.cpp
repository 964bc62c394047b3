// Parses what regions of blocks have beside other regions: the blocks of dimensions, and where each block is made.
#include <fmt/format.h>

#include "libcore/ir/regions.h"
#include "libcore/text/parse.h"

namespace kasen::text {

// `[N 4, K :2000]`
void ModuleParser::grid(Op& op) {
  lexer_.expect("[");
  while (!lexer_.at("]")) {
    if (!op.grid.empty()) lexer_.expect(",");
    GridCut cut;
    cut.dim = dim_name();
    if (lexer_.accept(":")) {
      cut.size = parse_integer(lexer_, "the indices of a block");
    } else {
      cut.count = parse_integer(lexer_, "a number of blocks");
    }
    op.grid.push_back(cut);
  }
  lexer_.expect("]");
}

// `[0*4, 1, 2]`: the worker of each task.
void ModuleParser::workers_of_tasks(Op& op) {
  lexer_.expect("[");
  while (!lexer_.at("]")) {
    if (!op.on.empty()) lexer_.expect(",");
    const Token at = lexer_.peek();
    const int worker = small_integer("a worker");
    const std::int64_t times = lexer_.accept("*") ? parse_integer(lexer_, "a number of tasks") : 1;
    if (times < 1 || times > most_block_tasks - std::ssize(op.on)) {
      lexer_.fail_at(at, "tasks without number", fmt::format("an operator has 1 to {} of them", most_block_tasks));
    }
    op.on.insert(op.on.end(), static_cast<std::size_t>(times), worker);
  }
  lexer_.expect("]");
}

// `[(0, 1, 3), (2, 3, 1)]`: both operands, and the worker, of each addition.
void ModuleParser::additions(Op& op) {
  lexer_.expect("[");
  while (!lexer_.at("]")) {
    if (!op.tree.empty()) lexer_.expect(",");
    if (std::ssize(op.tree) == most_block_tasks) lexer_.fail_at(lexer_.peek(), "too many additions");
    TreeAdd add;
    lexer_.expect("(");
    add.left = small_integer("an operand's number");
    lexer_.expect(",");
    add.right = small_integer("an operand's number");
    lexer_.expect(",");
    add.worker = small_integer("a worker");
    lexer_.expect(")");
    op.tree.push_back(add);
  }
  lexer_.expect("]");
}

}  // namespace kasen::text
