// Loops over blocks of a dimension's rows: `for B in blocks(N, 64) { ... X[B] ... }`. Such a program is written anew as
// one with declared batches, which the rest of the language knows:
//   dim N             dim N_blocks local, and dim N = 64
//   input X : f64[N, F]   input X : f64[N_blocks, N, F]; sparse ones and vectors alike
//   for B in blocks(N, 64)   for B in 0..size(N_blocks)
//   X[B]              at(X, B, over N_blocks)
//   size(B)           size(N)
//   size(N), outside of the loop   size(N_blocks) * size(N), as many rows as there are
// Within the loop N stands for the rows of one block. Outside of it N has no array: the rows of a block are cut over
// the workers, so no array over all rows has the owners of them. What could mean both is an error.
#pragma once

#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

// A for loop that the parser read as one over blocks: index holds the call `blocks(N, 64)`, value nothing.
[[nodiscard]] bool is_block_loop(const Statement& s);

// The statements without loops over blocks. Throws UserError(bad_input) at a use of N or of its inputs that has no
// meaning so, and at a loop over blocks in a def.
[[nodiscard]] std::vector<Statement> with_declared_blocks(std::vector<Statement> statements, const SourceText& source);

}  // namespace kasen::lang
