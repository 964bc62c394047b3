#include "libkernels/emit/emit.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/scalar/loops.h"
#include "libkernels/emit/kernel.h"
#include "libkernels/jit/primitives.h"

namespace kasen {

Emitter::Emitter(Jit& jit, llvm::Function* function, int lanes)
    : b(jit.context()), jit_(jit), function_(function), lanes_(lanes) {
  b.SetInsertPoint(llvm::BasicBlock::Create(jit.context(), "entry", function));
}

llvm::Type* Emitter::type(Scalar scalar) {
  switch (scalar) {
    case Scalar::f64:
      return b.getDoubleTy();
    case Scalar::f32:
      return b.getFloatTy();
    case Scalar::i32:
      return b.getInt32Ty();
    case Scalar::boolean:
      return b.getInt1Ty();
    default:
      return b.getInt64Ty();
  }
}

llvm::Type* Emitter::memory_type(Scalar scalar) { return scalar == Scalar::boolean ? b.getInt8Ty() : type(scalar); }

llvm::Type* Emitter::wide(llvm::Type* scalar) {
  return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes_));
}

llvm::Value* Emitter::spread(const Plane& plane) {
  if (lanes_ == 1 || !plane.uniform) return plane.value;
  return b.CreateVectorSplat(static_cast<unsigned>(lanes_), plane.value);
}

llvm::Value* Emitter::word(Scalar scalar, Word value) {
  if (is_float(scalar)) return llvm::ConstantFP::get(type(scalar), value.f);
  return llvm::ConstantInt::get(type(scalar), static_cast<std::uint64_t>(value.i), true);
}

llvm::Value* Emitter::lane_numbers() {
  if (lanes_ == 1) return integer(0);
  std::vector<llvm::Constant*> numbers;
  for (int l = 0; l < lanes_; ++l) numbers.push_back(b.getInt64(static_cast<std::uint64_t>(l)));
  return llvm::ConstantVector::get(numbers);
}

llvm::AllocaInst* Emitter::variable(llvm::Type* t) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  return top.CreateAlloca(t);
}

llvm::Value* Emitter::at_byte(llvm::Value* pointer, llvm::Value* offset) {
  return b.CreateGEP(b.getInt8Ty(), pointer, offset);
}

llvm::Value* Emitter::load_lanes(Scalar scalar, llvm::Value* address) {
  if (lanes_ == 1) return load_one(scalar, address);
  if (lacks_masks(scalar)) return load_each(scalar, addresses_of(lane_addresses(scalar, address), true));
  llvm::Type* memory = wide(memory_type(scalar));
  const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(scalar)));
  llvm::Value* loaded = mask == nullptr
                            ? static_cast<llvm::Value*>(b.CreateAlignedLoad(memory, address, align))
                            : b.CreateMaskedLoad(memory, address, align, mask, llvm::Constant::getNullValue(memory));
  return scalar == Scalar::boolean ? b.CreateIsNotNull(loaded) : loaded;
}

void Emitter::store_lanes(Scalar scalar, llvm::Value* address, const Plane& plane) {
  llvm::Value* value = spread(plane);
  if (lanes_ == 1) return store_one(scalar, address, value);
  if (scalar == Scalar::boolean) value = b.CreateZExt(value, wide(b.getInt8Ty()));
  if (lacks_masks(scalar)) return store_each(value, addresses_of(lane_addresses(scalar, address), false));
  const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(scalar)));
  if (mask == nullptr) {
    b.CreateAlignedStore(value, address, align);
  } else {
    b.CreateMaskedStore(value, address, align, mask);
  }
}

void Emitter::stream_lanes(Scalar scalar, llvm::Value* address, const Plane& plane) {
  if (mask != nullptr || lanes_ == 1 || !may_stream(scalar)) return store_lanes(scalar, address, plane);
  const llvm::Align align(static_cast<std::uint64_t>(std::min<std::int64_t>(scalar_bytes(scalar) * lanes_, 64)));
  llvm::StoreInst* store = b.CreateAlignedStore(spread(plane), address, align);
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(b.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), one));
}

void Emitter::ask_for(llvm::Value* address, Near near) {
  constexpr int to_read = 0, data = 1;
  const unsigned locality = near == Near::first_cache ? 3 : 2;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                    {address, b.getInt32(to_read), b.getInt32(locality), b.getInt32(data)});
}

void Emitter::fence_streams() { kasen::fence_streams(b, jit_.target()); }

llvm::Value* Emitter::load_one(Scalar scalar, llvm::Value* address) {
  llvm::Value* loaded = b.CreateLoad(memory_type(scalar), address);
  return scalar == Scalar::boolean ? b.CreateIsNotNull(loaded) : loaded;
}

void Emitter::store_one(Scalar scalar, llvm::Value* address, llvm::Value* value) {
  if (scalar == Scalar::boolean) value = b.CreateZExt(value, b.getInt8Ty());
  b.CreateStore(value, address);
}

llvm::Value* Emitter::gather(Scalar scalar, llvm::Value* addresses) {
  if (lanes_ == 1) return load_one(scalar, addresses);
  if (reads_one_by_one()) return load_each(scalar, addresses_of(addresses, true));
  if (scalar == Scalar::boolean) return gather_bytes(addresses);
  llvm::Type* memory = wide(memory_type(scalar));
  const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(scalar)));
  return b.CreateMaskedGather(memory, addresses, align, mask, llvm::Constant::getNullValue(memory));
}

llvm::Value* Emitter::load_each(Scalar scalar, std::span<llvm::Value* const> addresses) {
  llvm::Value* lanes = llvm::PoisonValue::get(wide(memory_type(scalar)));
  for (size_t l = 0; l < addresses.size(); ++l) {
    lanes = b.CreateInsertElement(lanes, b.CreateLoad(memory_type(scalar), addresses[l]), l);
  }
  return scalar == Scalar::boolean ? b.CreateIsNotNull(lanes) : lanes;
}

void Emitter::store_each(llvm::Value* value, std::span<llvm::Value* const> addresses) {
  for (size_t l = 0; l < addresses.size(); ++l) b.CreateStore(b.CreateExtractElement(value, l), addresses[l]);
}

// LLVM makes a branch for each lane of a masked access that the processor lacks.
bool Emitter::lacks_masks(Scalar scalar) { return mask != nullptr && !jit_.target().masks(scalar_bytes(scalar)); }

llvm::Value* Emitter::lane_addresses(Scalar scalar, llvm::Value* first) {
  return b.CreateGEP(memory_type(scalar), first, lane_numbers());
}

llvm::AllocaInst* Emitter::spare_word(bool read) {
  llvm::AllocaInst*& word = read ? zero_word_ : written_word_;
  if (word != nullptr) return word;
  word = variable(b.getInt64Ty());
  llvm::IRBuilder<> behind(word->getNextNode());
  if (read) behind.CreateStore(behind.getInt64(0), word);
  return word;
}

std::vector<llvm::Value*> Emitter::addresses_of(llvm::Value* addresses, bool read) {
  if (mask != nullptr) addresses = b.CreateSelect(mask, addresses, spread({spare_word(read), true}));
  std::vector<llvm::Value*> each;
  for (int l = 0; l < lanes_; ++l) each.push_back(b.CreateExtractElement(addresses, integer(l)));
  return each;
}

// Processors gather words, not bytes: this reads the aligned words with the bytes, which end in the same pages as they
// do.
llvm::Value* Emitter::gather_bytes(llvm::Value* addresses) {
  llvm::Type* number = wide(b.getInt64Ty());
  llvm::Type* word = wide(b.getInt32Ty());
  llvm::Value* byte = b.CreatePtrToInt(addresses, number);
  llvm::Value* place = b.CreateAnd(byte, llvm::ConstantInt::getSigned(number, -4));
  llvm::Value* loaded = b.CreateMaskedGather(word, b.CreateIntToPtr(place, addresses->getType()), llvm::Align(4), mask,
                                             llvm::Constant::getNullValue(word));
  llvm::Value* bits = b.CreateShl(b.CreateTrunc(b.CreateAnd(byte, llvm::ConstantInt::get(number, 3)), word), 3);
  return b.CreateIsNotNull(b.CreateAnd(b.CreateLShr(loaded, bits), llvm::ConstantInt::get(word, 0xff)));
}

void Emitter::scatter(Scalar scalar, llvm::Value* addresses, const Plane& plane) {
  llvm::Value* value = spread(plane);
  if (lanes_ == 1) return store_one(scalar, addresses, value);
  if (scalar == Scalar::boolean) value = b.CreateZExt(value, wide(b.getInt8Ty()));
  if (!jit_.target().takes_first(Choice::writes)) {
    return store_each(value, addresses_of(addresses, false));
  }
  b.CreateMaskedScatter(value, addresses, llvm::Align(static_cast<std::uint64_t>(scalar_bytes(scalar))), mask);
}

llvm::Value* Emitter::scratch(std::int64_t bytes) {
  if (scratch_base == nullptr) throw InternalError("this kernel was not given scratch memory");
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  llvm::Value* address = top.CreateGEP(b.getInt8Ty(), scratch_base, integer(scratch_bytes_));
  scratch_bytes_ += (bytes + 63) / 64 * 64;
  return address;
}

llvm::Value* Emitter::local(std::int64_t bytes) {
  llvm::AllocaInst* memory = variable(llvm::ArrayType::get(b.getInt8Ty(), static_cast<std::uint64_t>(bytes)));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

// Tests before the first iteration and at the end of each, so that invariants can be hoisted out.
Emitter::Loop Emitter::open_loop(llvm::Value* begin, llvm::Value* end, std::int64_t step) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  Loop l{};
  l.body = llvm::BasicBlock::Create(b.getContext(), "loop", function_);
  l.done = llvm::BasicBlock::Create(b.getContext(), "done", function_);
  l.end = end;
  l.step = integer(step);
  b.CreateCondBr(b.CreateICmpSLT(begin, end), l.body, l.done);
  b.SetInsertPoint(l.body);
  l.index = b.CreatePHI(b.getInt64Ty(), 2, "i");
  l.index->addIncoming(begin, before);
  return l;
}

void Emitter::close_loop(const Loop& l) {
  llvm::Value* next = b.CreateNSWAdd(l.index, l.step);
  l.index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, l.end), l.body, l.done);
  b.SetInsertPoint(l.done);
}

Plane Emitter::select(const Plane& condition, const Plane& yes, const Plane& no) {
  const bool uniform = condition.uniform && yes.uniform && no.uniform;
  if (uniform) return {b.CreateSelect(condition.value, yes.value, no.value), true};
  return {b.CreateSelect(spread(condition), spread(yes), spread(no)), false};
}

// A coordinate outside a small array is clamped to its ends.
Plane Emitter::clamp(const Plane& index, std::int64_t last) {
  const std::array low{index, Plane{integer(0), true}};
  const std::array high{plain(ScalarOp::max, Scalar::i64, low), Plane{integer(last), true}};
  return plain(ScalarOp::min, Scalar::i64, high);
}

const Plane* Emitter::known(const Expr& e) const {
  if (given == nullptr) return nullptr;
  const auto at = given->find(&e);
  return at == given->end() ? nullptr : &at->second;
}

Plane Emitter::value(const Expr& e, const Sources& sources) {
  if (const Plane* plane = known(e)) return *plane;
  switch (e.op) {
    case ScalarOp::constant:
      return {word(e.type.scalar(), e.literal), true};
    case ScalarOp::param:
    case ScalarOp::make_tuple:
    case ScalarOp::component:
    case ScalarOp::build:
      return value_at(e, sources, 0, nullptr);
    case ScalarOp::loop_var:
      return loops_.at(e.index);
    case ScalarOp::element: {
      const Plane index = clamp(value(e.args[1], sources), e.args[0].type.planes() - 1);
      return value_at(e.args[0], sources, 0, &index);
    }
    case ScalarOp::cast:
      return cast(e.args[0].type.scalar(), e.type.scalar(), value(e.args[0], sources));
    case ScalarOp::select:
      return select(value(e.args[0], sources), value(e.args[1], sources), value(e.args[2], sources));
    case ScalarOp::sum_over:
    case ScalarOp::prod_over:
    case ScalarOp::min_over:
    case ScalarOp::max_over:
      return over(e, sources);
    default: {
      std::vector<Plane> args;
      for (const Expr& arg : e.args) args.push_back(value(arg, sources));
      return plain(e.op, e.args[0].type.scalar(), args);
    }
  }
}

Plane Emitter::value_at(const Expr& e, const Sources& sources, int component, const Plane* coordinate) {
  if (const Plane* plane = known(e)) return *plane;
  switch (e.op) {
    case ScalarOp::param:
      return sources[static_cast<size_t>(e.index)]->load(*this, component, coordinate);
    case ScalarOp::select: {
      const Plane condition = value(e.args[0], sources);
      const Plane yes = value_at(e.args[1], sources, component, coordinate);
      return select(condition, yes, value_at(e.args[2], sources, component, coordinate));
    }
    case ScalarOp::make_tuple:
      return value_at(e.args[static_cast<size_t>(component)], sources, 0, coordinate);
    case ScalarOp::component:
      return value_at(e.args[0], sources, e.index, coordinate);
    case ScalarOp::build:
      return value_with(e.args[0], e.index, *coordinate, sources);
    default:
      return value(e, sources);
  }
}

Plane Emitter::value_with(const Expr& body, int number, const Plane& coordinate, const Sources& sources) {
  const auto outer = loops_.find(number);
  const bool open = outer != loops_.end();
  const Plane saved = open ? outer->second : Plane{};
  loops_[number] = coordinate;
  const Plane result = value(body, sources);
  if (open) {
    loops_[number] = saved;
  } else {
    loops_.erase(number);
  }
  return result;
}

// A tuple's components often share one: a distance that is compared, and kept if it is the least.
Plane Emitter::over(const Expr& e, const Sources& sources) {
  if (in_coordinate_loop() || !loops_.empty()) return computed_over(e, sources);
  for (const Known& known : known_) {
    if (*known.over == e && known.sources == sources) return known.value;
  }
  const Plane result = computed_over(e, sources);
  known_.push_back({&e, sources, result});
  return result;
}

// A loop over many coordinates stays a loop: a point may have thousands.
Plane Emitter::computed_over(const Expr& e, const Sources& sources) {
  const Scalar s = e.type.scalar();
  const auto [step, unit, extremum] = loop_step(e.op);
  llvm::AllocaInst* total = variable(wide(type(s)));
  const auto body = [&](llvm::Value* j) { return value_with(e.args[0], e.index, {j, true}, sources); };
  if (extremum) {
    b.CreateStore(spread(body(integer(0))), total);
  } else {
    const Word start = is_float(s) ? Word::real(static_cast<double>(unit)) : Word::integer(unit);
    b.CreateStore(spread({word(s, start), true}), total);
  }
  coordinates(extremum ? 1 : 0, e.count, [&](llvm::Value* j) {
    const std::array args{Plane{b.CreateLoad(total->getAllocatedType(), total), lanes_ == 1}, body(j)};
    b.CreateStore(spread(plain(step, s, args)), total);
  });
  return {b.CreateLoad(total->getAllocatedType(), total), lanes_ == 1};
}

}  // namespace kasen
