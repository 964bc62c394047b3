#include "libkernels/emit/view_inputs.h"

#include <utility>

namespace kasen {
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
