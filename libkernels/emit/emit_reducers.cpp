// Small loops around a reducer: they combine partial results of blocks into a total, and packed elements into an array.
#include <algorithm>

#include "libkernels/emit/elements.h"

namespace kasen {
namespace {

// target = R(target, value), one element.
void apply_reducer(Emitter& e, const ScalarFunction& reducer, MemorySource& target, Source& value,
                   Accumulator& result) {
  result.assign(e, reducer.body, {&target, &value});
  for_each_plane(e, reducer.result(), [&](int c, const Plane* j) { target.store(e, c, j, result.load(e, c, j)); });
}

// A function of two pointers, two integers and the scratch area, with the loop that `body` emits.
template <class Body>
void emit_loop_function(Jit& jit, const std::string& name, std::int64_t& scratch_bytes, const Body& body) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  llvm::Function* f = jit.add_function(name, {pointer, pointer, integer, integer, pointer});
  Emitter e(jit, f, 1);
  e.scratch_base = f->getArg(4);
  body(e, f);
  e.b.CreateRetVoid();
  scratch_bytes = std::max(scratch_bytes, e.scratch_bytes());
}

}  // namespace

void emit_fold(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes) {
  emit_loop_function(jit, name, scratch_bytes, [&](Emitter& e, llvm::Function* f) {
    ArgumentLayout layout;
    const ElementType& element = reducer.result();
    MemorySource total(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    Accumulator result(e, element);
    e.loop(e.integer(0), f->getArg(2), 1, [&](llvm::Value* k) {
      total.move_to(e, e.integer(0));
      SlotSource partial(element, e.at_byte(f->getArg(1), e.b.CreateMul(k, f->getArg(3))));
      apply_reducer(e, reducer, total, partial, result);
    });
  });
}

void emit_combine(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes) {
  emit_loop_function(jit, name, scratch_bytes, [&](Emitter& e, llvm::Function* f) {
    ArgumentLayout layout;
    const ElementType& element = reducer.result();
    MemorySource target(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    MemorySource packed(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    Accumulator result(e, element);
    e.loop(f->getArg(2), f->getArg(3), 1, [&](llvm::Value* k) {
      llvm::Value* at = e.b.CreateGEP(e.b.getInt32Ty(), f->getArg(1), k);
      target.move_to(e, e.b.CreateZExt(e.b.CreateLoad(e.b.getInt32Ty(), at), e.b.getInt64Ty()));
      packed.move_to(e, k);
      apply_reducer(e, reducer, target, packed, result);
    });
  });
}

}  // namespace kasen
