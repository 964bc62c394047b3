#include "libkernels/emit/broadcast_indices.h"

#include <algorithm>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libkernels/emit/emit_slices.h"
#include "libkernels/emit/loop_shape.h"

namespace kasen {

void BroadcastIndices::open(llvm::Value* begin) {
  llvm::Type* type = e_.wide(e_.b.getInt64Ty());
  llvm::Value* rest = e_.b.CreateAdd(e_.spread({begin, true}), e_.lane_numbers());
  llvm::Value* step = e_.integer(e_.lanes());
  digits_.resize(sizes_.size() + 1);
  steps_.resize(sizes_.size() + 1);
  for (size_t d = sizes_.size(); d > 0; --d) {
    llvm::Value* size = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sizes_[d - 1], e_.integer(1));
    digits_[d] = e_.variable(type);
    e_.b.CreateStore(e_.b.CreateURem(rest, e_.spread({size, true})), digits_[d]);
    rest = e_.b.CreateUDiv(rest, e_.spread({size, true}));
    steps_[d] = e_.b.CreateURem(step, size);
    step = e_.b.CreateUDiv(step, size);
  }
  digits_[0] = e_.variable(type);
  e_.b.CreateStore(rest, digits_[0]);
  steps_[0] = step;
}

void BroadcastIndices::advance() {
  llvm::Type* type = digits_[0]->getAllocatedType();
  llvm::Value* carry = llvm::Constant::getNullValue(type);
  for (size_t d = sizes_.size(); d > 0; --d) {
    llvm::Value* digit = e_.b.CreateAdd(e_.b.CreateLoad(type, digits_[d]), e_.spread({steps_[d], true}));
    digit = e_.b.CreateAdd(digit, carry);
    llvm::Value* size = e_.spread({sizes_[d - 1], true});
    llvm::Value* over = e_.b.CreateICmpSGE(digit, size);
    e_.b.CreateStore(e_.b.CreateSelect(over, e_.b.CreateSub(digit, size), digit), digits_[d]);
    carry = e_.b.CreateZExt(over, type);
  }
  llvm::Value* outer = e_.b.CreateAdd(e_.b.CreateLoad(type, digits_[0]), e_.spread({steps_[0], true}));
  e_.b.CreateStore(e_.b.CreateAdd(outer, carry), digits_[0]);
}

llvm::Value* BroadcastIndices::index(const Type& type) {
  llvm::Type* wide = digits_[0]->getAllocatedType();
  llvm::Value* at_index = llvm::Constant::getNullValue(wide);
  if (Layout(module_, type).is_distributed()) at_index = e_.b.CreateLoad(wide, digits_[0]);
  for (const size_t at : places(type)) {
    if (at == no_place) continue;
    at_index = e_.b.CreateMul(at_index, e_.spread({sizes_[at], true}));
    at_index = e_.b.CreateAdd(at_index, e_.b.CreateLoad(wide, digits_[at + 1]));
  }
  return at_index;
}

llvm::Value* BroadcastIndices::are_together() {
  if (sizes_.empty() || e_.lanes() == 1) return nullptr;
  llvm::Value* last = e_.b.CreateLoad(digits_.back()->getAllocatedType(), digits_.back());
  llvm::Value* end = e_.b.CreateAdd(e_.b.CreateExtractElement(last, e_.integer(0)), e_.integer(e_.lanes()));
  return e_.b.CreateICmpSLE(end, sizes_.back());
}

bool BroadcastIndices::has_last(const Type& type) const {
  const std::vector<size_t> found = places(type);
  return std::find(found.begin(), found.end(), dims_.size() - 1) != found.end();
}

std::vector<size_t> BroadcastIndices::places(const Type& type) const {
  const Layout layout(module_, type);
  std::vector<size_t> found(type.dims.size(), no_place);
  auto rest = dims_.rbegin();
  for (size_t d = type.dims.size(); d-- > 0;) {
    if (layout.is_cut(d)) continue;
    rest = std::find(rest, dims_.rend(), type.dims[d]);
    if (rest == dims_.rend()) refuse("an operand", "it has a dimension that the result lacks", where_);
    ++rest;
    found[d] = static_cast<size_t>(dims_.rend() - rest);
  }
  return found;
}

llvm::Value* BroadcastIndices::index(const Op& view, const std::vector<llvm::Value*>& sizes, llvm::Value* begin) {
  llvm::Type* wide = digits_[0]->getAllocatedType();
  const std::vector<DimId>& from = module_.type(viewed(view)).dims;
  const std::vector<size_t> in_result = view_places(module_, view);
  const std::vector<size_t> in_loop = places(module_.type(view.results.at(0)));
  const std::ptrdiff_t ranged = ranged_place(module_, view);
  const Layout layout(module_, viewed(view));
  llvm::Value* at_index = llvm::Constant::getNullValue(wide);
  if (layout.is_distributed()) at_index = e_.b.CreateLoad(wide, digits_[0]);
  size_t number = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    if (layout.is_cut(d)) continue;
    at_index = e_.b.CreateMul(at_index, e_.spread({sizes[number++], true}));
    if (std::cmp_equal(d, ranged)) at_index = e_.b.CreateAdd(at_index, begin);
    if (in_result[d] == no_place) continue;
    at_index = e_.b.CreateAdd(at_index, e_.b.CreateLoad(wide, digits_[in_loop[in_result[d]] + 1]));
  }
  return at_index;
}

namespace {

// Variables for the scalar components of an input, which two ways of reading it fill.
class TwoWays {
 public:
  TwoWays(Emitter& e, BroadcastIndices& indices, const BroadcastInput& input)
      : e_(e), input_(input), follows_(indices.has_last(*input.type)), index_(indices.index(*input.type)) {
    const ElementType& element = input.source->element();
    for (int c = 0; c < components_of(element); ++c) {
      const bool read = count_of(element, c) == 0 && scalar_of(element, c) != Scalar::null;
      scalars_.push_back(read ? e.variable(e.wide(e.type(scalar_of(element, c)))) : nullptr);
    }
  }

  void read(bool together) {
    const ArrayPlanes& planes = input_.source->planes();
    for (size_t c = 0; c < scalars_.size(); ++c) {
      if (scalars_[c] == nullptr) continue;
      const Scalar scalar = scalar_of(planes.element, static_cast<int>(c));
      llvm::Value* index = together ? e_.b.CreateExtractElement(index_, e_.integer(0)) : index_;
      llvm::Value* at = e_.b.CreateGEP(e_.memory_type(scalar), planes.components[c].base, index);
      llvm::Value* value = !together  ? e_.gather(scalar, at)
                           : follows_ ? e_.load_lanes(scalar, at)
                                      : e_.spread({e_.load_one(scalar, at), true});
      e_.b.CreateStore(value, scalars_[c]);
    }
  }

  void take() {
    std::vector<Plane> loaded;
    for (llvm::AllocaInst* at : scalars_) {
      loaded.push_back(at == nullptr ? Plane{} : Plane{e_.b.CreateLoad(at->getAllocatedType(), at), false});
    }
    input_.source->take(index_, std::move(loaded));
  }

 private:
  Emitter& e_;
  BroadcastInput input_;
  bool follows_;
  llvm::Value* index_;
  std::vector<llvm::AllocaInst*> scalars_;
};

}  // namespace

void move_broadcast(Emitter& e, BroadcastIndices& indices, const std::vector<BroadcastInput>& inputs) {
  if (inputs.empty()) return;
  llvm::Value* together = indices.are_together();
  if (together == nullptr) {
    for (const BroadcastInput& input : inputs) input.source->move_to(e, indices.index(*input.type));
    return;
  }
  std::vector<TwoWays> ways;
  for (const BroadcastInput& input : inputs) ways.emplace_back(e, indices, input);
  const auto read = [&](bool as) {
    for (TwoWays& way : ways) way.read(as);
  };
  e.either(
      together, [&] { read(true); }, [&] { read(false); });
  for (TwoWays& way : ways) way.take();
}

namespace {

// Processors do not foresee gathers: without a prefetch, a range over ten columns is read at a sixth of the speed.
constexpr std::int64_t bytes_ahead = 1024;

}  // namespace

Source* ViewInputs::add(const Op& view, const ArrayPlanes& array, std::vector<llvm::Value*> sizes, llvm::Value* begin) {
  auto source = std::make_unique<MemorySource>(array, MemorySource::Access::scattered);
  inputs_.push_back({&view, std::move(sizes), begin, std::move(source)});
  return inputs_.back().source.get();
}

void ViewInputs::move(BroadcastIndices& indices) {
  for (Input& input : inputs_) {
    llvm::Value* index = indices.index(*input.view, input.sizes, input.begin);
    ask_ahead(input.source->planes(), index);
    input.source->move_to(e_, index);
  }
}

void ViewInputs::ask_ahead(const ArrayPlanes& array, llvm::Value* index) {
  llvm::Value* first = e_.b.CreateExtractElement(index, e_.integer(0));
  for (size_t c = 0; c < array.components.size(); ++c) {
    llvm::Value* bytes = e_.b.CreateMul(first, e_.integer(scalar_bytes(array.element.components[c].scalar)));
    e_.ask_for(e_.at_byte(array.components[c].base, e_.b.CreateAdd(bytes, e_.integer(bytes_ahead))));
  }
}

}  // namespace kasen
