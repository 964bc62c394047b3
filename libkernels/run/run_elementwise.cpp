#include <algorithm>

#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

// Below this many elements, waking the other threads costs more than it saves.
constexpr std::int64_t small_loop = 2 * reduction_block;
constexpr size_t most_words = 64;  // of a kernel's arguments, mostly

// Folds blocks' partial results, in order, into the accumulators.
void fold(Workshop& shop, const PlanKernels& plan, const ElementwiseKernel& kernel, std::span<const View> outputs,
          const std::byte* partials, std::int64_t blocks) {
  for (const ReducedValue& value : kernel.reduced) {
    std::vector<std::int64_t> words;
    append_array(words, value.element, outputs[static_cast<size_t>(value.result)]);
    plan.folds.at(value.reducer)(words.data(), partials + value.slot, blocks, kernel.partial_bytes, shop.scratch(0));
  }
}

// Results too large for the caches go past them, unless they alias an operand: its lines are there anyway.
bool goes_past_caches(const PlanKernels& plan, const ElementwiseKernel& kernel, std::span<const View> inputs,
                      std::span<const View> outputs, std::int64_t begin, std::int64_t elements) {
  if (kernel.streamed == nullptr || begin % reduction_lanes != 0) return false;
  std::int64_t bytes = 0;
  for (size_t i = 0; i < kernel.stored.size(); ++i) {
    const View& output = outputs[static_cast<size_t>(kernel.stored[i])];
    if (reinterpret_cast<std::uintptr_t>(output.data) % 64 != 0) return false;
    const bool in_place =
        std::any_of(inputs.begin(), inputs.end(), [&](const View& input) { return input.data == output.data; });
    if (!in_place) bytes += streamed_bytes(kernel.stored_elements[i]) * elements;
  }
  return bytes > plan.cached_bytes;
}

}  // namespace

void Workshop::reserve(std::int64_t scratch_bytes, std::int64_t strip_bytes) {
  for (Room& room : scratch_) {
    if (room.memory.size() < scratch_bytes) room.memory = Bytes(scratch_bytes);
    if (room.strip.size() < strip_bytes) room.strip = Bytes(strip_bytes);
  }
}

std::byte* Workshop::grown(Bytes& room, std::int64_t bytes) {
  if (room.size() < bytes) room = Bytes(bytes);
  return room.data();
}

std::int64_t local_size(const Module& module, const ElementwiseKernel& kernel, DimId dim, std::int64_t inner) {
  const std::int64_t size = module.dim(dim).size;
  return kernel.local_dims.size() == 1 && size < 0 ? inner : std::max<std::int64_t>(size, 0);
}

std::vector<std::int64_t> local_sizes(const Module& module, const ElementwiseKernel& kernel, std::int64_t inner) {
  std::vector<std::int64_t> sizes;
  for (const DimId d : kernel.local_dims) sizes.push_back(local_size(module, kernel, d, inner));
  return sizes;
}

void run_elementwise(Workshop& shop, const PlanKernels& plan, const ElementwiseKernel& kernel,
                     std::span<const View> inputs, std::span<const View> outputs, std::int64_t begin, std::int64_t end,
                     std::span<const std::int64_t> sizes, std::int64_t whole) {
  if (begin >= end) return;
  std::vector<std::int64_t> words;
  words.reserve(most_words);
  for (size_t i = 0; i < kernel.inputs.size(); ++i) append_array(words, kernel.inputs[i], inputs[i]);
  for (size_t i = 0; i < kernel.stored.size(); ++i) {
    append_array(words, kernel.stored_elements[i], outputs[static_cast<size_t>(kernel.stored[i])]);
  }
  words.insert(words.end(), sizes.begin(), sizes.end());
  const std::int64_t blocks = (end - begin + reduction_block - 1) / reduction_block;
  std::byte* partials = kernel.partial_bytes > 0 ? shop.partials(blocks * kernel.partial_bytes) : nullptr;
  const bool streams = goes_past_caches(plan, kernel, inputs, outputs, begin, std::max(end - begin, whole));
  const ElementwiseFunction function = streams ? kernel.streamed : kernel.function;
  const auto run = [&](int thread, std::int64_t first, std::int64_t last) {
    const auto limit = [&](std::int64_t block) { return std::min(end, begin + block * reduction_block); };
    if (partials == nullptr) {
      function(words.data(), limit(first), limit(last), nullptr, shop.scratch(thread));
      return;
    }
    for (std::int64_t b = first; b < last; ++b) {
      function(words.data(), limit(b), limit(b + 1), partials + b * kernel.partial_bytes, shop.scratch(thread));
    }
  };
  if (end - begin < small_loop || shop.pool.threads() == 1) {
    run(0, 0, blocks);
  } else {
    const std::int64_t threads = shop.pool.threads();
    shop.pool.run([&](int t) { run(t, blocks * t / threads, blocks * (t + 1) / threads); });
  }
  if (partials != nullptr) fold(shop, plan, kernel, outputs, partials, blocks);
}

}  // namespace kasen
