#include "libkernels/tile/tile_emitter.h"

#include <bit>
#include <numeric>

namespace kasen {
namespace {

llvm::Function* make(Jit& jit, const std::string& name) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  return jit.add_function(name, {pointer, integer, integer, integer, pointer, pointer, integer, integer, integer});
}

bool is_power(std::int64_t count) { return std::has_single_bit(static_cast<std::uint64_t>(count)); }

}  // namespace

TileEmitter::TileEmitter(Jit& jit, const TileShape& shape, const std::string& name)
    : shape_(shape),
      lanes_(64 / scalar_bytes(shape.scalar)),
      e_(jit, make(jit, name), static_cast<int>(lanes_)),
      tile_(e_.function()->getArg(0)),
      stride_(shape.width > 0 ? e_.integer(shape.width) : e_.function()->getArg(1)),
      rows_(e_.function()->getArg(2)),
      cols_(shape.width > 0 ? e_.integer(shape.width) : e_.function()->getArg(3)),
      asked_{e_.function()->getArg(7), e_.function()->getArg(8)},
      asking_(asked_) {}

llvm::Value* TileEmitter::begun() { return e_.b.CreateICmpNE(e_.function()->getArg(6), e_.integer(0)); }

// A quarter is left for operands.
std::int64_t TileEmitter::sums_in_registers() { return e_.jit().target().registers() * 3 / 4; }

// A part of a vector whose length is a power of two is one load, and the processor makes the other lanes 0.
llvm::Value* TileEmitter::load(llvm::Value* array, const Step& step) {
  llvm::Value* address = at(array, step.from);
  if (step.count == 0 || step.count == lanes_) return e_.load_lanes(shape_.scalar, address);
  const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(shape_.scalar)));
  if (is_power(step.count)) {
    auto* type = llvm::FixedVectorType::get(e_.type(shape_.scalar), static_cast<unsigned>(step.count));
    llvm::Value* part = e_.b.CreateAlignedLoad(type, address, align);
    std::vector<int> lanes(static_cast<size_t>(lanes_), static_cast<int>(step.count));
    std::iota(lanes.begin(), lanes.begin() + step.count, 0);
    return e_.b.CreateShuffleVector(part, llvm::Constant::getNullValue(type), lanes);
  }
  e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(step.count), true}));
  llvm::Value* loaded = e_.load_lanes(shape_.scalar, address);
  e_.mask = nullptr;
  return loaded;
}

void TileEmitter::store(llvm::Value* array, const Step& step, llvm::Value* value) {
  llvm::Value* address = at(array, step.from);
  if (step.count == 0 || step.count == lanes_) return e_.store_lanes(shape_.scalar, address, {value, false});
  e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(step.count), true}));
  e_.store_lanes(shape_.scalar, address, {value, false});
  e_.mask = nullptr;
}

llvm::Value* TileEmitter::element_of(llvm::Value* row, size_t k, const Step& step) {
  if (step.count != 0) {
    e_.ask_for(at(at(row, step.from), asking_.at(k % asking_.size())), Emitter::Near::second_cache);
  }
  return load(row, step);
}

TileEmitter::Values TileEmitter::pointers(llvm::Value* row, std::int64_t count) {
  llvm::Value* first = at(tile_, e_.b.CreateMul(row, stride_));
  Values made{first};
  for (std::int64_t k = 1; k < count; ++k) made.push_back(at(first, e_.b.CreateMul(e_.integer(k), stride_)));
  return made;
}

TileEmitter::Values TileEmitter::vectors(llvm::Value* table, llvm::Value* first, std::int64_t count) {
  Values made;
  llvm::Type* pointer = table->getType();
  for (std::int64_t c = 0; c < count; ++c) {
    llvm::Value* place = e_.b.CreateGEP(pointer, table, e_.b.CreateAdd(first, e_.integer(c)));
    made.push_back(e_.b.CreateLoad(pointer, place));
  }
  return made;
}

TileEmitter::ColumnGroup TileEmitter::column_group(llvm::Value* first, std::int64_t count) {
  llvm::Value* prefetches = e_.b.CreateICmpEQ(first, e_.integer(0));
  for (size_t k = 0; k < asked_.size(); ++k) {
    asking_.at(k) = e_.b.CreateSelect(prefetches, asked_.at(k), e_.integer(0));
  }
  return {vectors(e_.function()->getArg(4), first, count), vectors(e_.function()->getArg(5), first, count)};
}

}  // namespace kasen
