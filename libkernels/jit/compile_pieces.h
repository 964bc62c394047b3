// From LLVM modules to machine code, or to what an earlier process kept of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libkernels/jit/code_cache.h"
#include "libkernels/jit/machine.h"

namespace llvm {
class Module;
}

namespace kasen {

// A module as bitcode, so that each thread reads it into a context of its own.
struct PieceToCompile {
  std::string bitcode;
  std::int64_t instructions = 0;
  std::vector<NamedFunction> functions;
};

struct CompiledPieces {
  std::vector<CompiledObject> objects;  // in the order of the pieces that are the first of their code
  std::int64_t made = 0;                // of these; the others were found
};

// One object for all pieces of the same code. `threads` threads compile what is not found.
[[nodiscard]] CompiledPieces compile_pieces(std::vector<PieceToCompile> pieces, const Machine& machine,
                                            const CodeStore& store, int threads);

// The code of a module that nobody keeps, and its text.
[[nodiscard]] std::string compile_with_text(llvm::Module& module, const Machine& machine, std::string& assembly);

}  // namespace kasen
