// The functions that reduce, scan and combine: a table of arrays, places in them, and a range.
#pragma once

#include <algorithm>
#include <string>

#include "libkernels/emit/emit.h"

namespace kasen {

// A function of two pointers, two integers and the scratch area, with the loop that `body` emits.
template <class Body>
void emit_loop_function(Jit& jit, const std::string& name, std::int64_t& scratch_bytes, const Body& body,
                        int lanes = 1) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  llvm::Function* f = jit.add_function(name, {pointer, pointer, integer, integer, pointer});
  Emitter e(jit, f, lanes);
  e.scratch_base = f->getArg(4);
  body(e, f);
  e.b.CreateRetVoid();
  scratch_bytes = std::max(scratch_bytes, e.scratch_bytes());
}

}  // namespace kasen
