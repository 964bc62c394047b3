#include "libkernels/run/regular_reduction.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "libcore/base/checked.h"
#include "libcore/ir/products.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

constexpr std::int64_t wide_share = 64;                       // results side by side that are worth a thread
constexpr std::int64_t cached_elements = 4096;                // which may be read again from the first cache
constexpr std::int64_t cached_block = std::int64_t{4} << 20;  // bytes of a block that outer caches hold
constexpr std::int64_t cached_rows = std::int64_t{1} << 19;   // bytes of rows that were used a moment ago
constexpr std::int64_t most_planes = 4;                       // of eight accumulators in registers
constexpr ScalarOp block_reducers[]{ScalarOp::add, ScalarOp::mul, ScalarOp::min, ScalarOp::max};

class Reducer {
 public:
  Reducer(const PlanKernels& plan, const PartialReduction& r, std::byte* scratch)
      : function_(plan.reductions.at(r.reducer)), r_(r), scratch_(scratch) {}

  void call(const View& from, std::int64_t first, const View& to, std::int64_t result, const ReductionPlaces& places,
            std::int64_t count) {
    words_.clear();
    append_from(words_, r_.element, from, first);
    append_from(words_, r_.element, to, result);
    function_(words_.data(), &places, 0, count, scratch_);
  }

 private:
  ReductionFunction function_;
  const PartialReduction& r_;
  std::byte* scratch_;
  std::vector<std::int64_t> words_;
};

// Groups (an index's `outer`) begin to end, each with `inner` results of its own.
void reduce_groups(Reducer& reducer, const PartialReduction& r, const View& from, const View& to, Range groups,
                   bool cached) {
  const RegularSteps& s = *r.regular;
  const std::int64_t elements = s.steps * s.inner;
  const std::int64_t at_once =
      std::clamp<std::int64_t>(cached_elements / std::max<std::int64_t>(elements, 1), reduction_lanes, 512);
  for (std::int64_t begin = groups.begin; begin < groups.end; begin += at_once) {
    const std::int64_t count = std::min(at_once, groups.end - begin);
    fill_identity(r, to, begin * s.inner, count * s.inner);
    if (s.inner < reduction_lanes) {  // the same neighbour of each group
      for (std::int64_t k = 0; k < s.inner; ++k)
        reducer.call(from, begin * elements + k, to, begin * s.inner + k,
                     {elements, s.inner, s.steps, s.inner, cached ? 1 : 0}, count);
      continue;
    }
    for (std::int64_t g = begin; g < begin + count; ++g)
      reducer.call(from, g * elements, to, g * s.inner, {1, s.inner, s.steps, 1, 0}, s.inner);
  }
}

void share(Workshop& shop, std::int64_t count, std::int64_t work, const std::function<void(int, Range)>& run) {
  const std::int64_t threads = work < 2 * reduction_block ? 1 : shop.pool.threads();
  const auto limit = [&](std::int64_t t) { return count * t / threads; };
  if (threads == 1) return run(0, {0, count});
  shop.pool.run([&](int thread) { run(thread, {limit(thread), limit(thread + 1)}); });
}

// Blocks of steps on all threads, some at a time; their results then follow one another into the totals.
void accumulate_blocks(Workshop& shop, const PlanKernels& plan, const PartialReduction& r, const View& from,
                       std::int64_t first, const View& to, std::int64_t steps) {
  const std::int64_t width = r.regular->inner, blocks = (steps + reduction_block - 1) / reduction_block;
  const std::int64_t at_once = std::min<std::int64_t>(blocks, 2 * shop.pool.threads());
  const std::int64_t capacity = checked_mul(at_once, width, "partial results");
  const View partial{shop.partials(storage_bytes(r.element, capacity)), capacity};
  std::vector<std::int32_t> order(static_cast<size_t>(width));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> words;
  for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
    const std::int64_t count = std::min(at_once, blocks - begin);
    share(shop, count, count * reduction_block * width, [&](int thread, Range some) {
      Reducer reducer(plan, r, shop.scratch(thread));
      fill_identity(r, partial, some.begin * width, some.size() * width);
      for (std::int64_t b = some.begin; b < some.end; ++b) {
        const std::int64_t step = (begin + b) * reduction_block;
        const std::int64_t taken = std::min(reduction_block, steps - step);
        reducer.call(from, first + step * width, partial, b * width, {1, width, taken, 1, 0}, width);
      }
    });
    for (std::int64_t b = 0; b < count; ++b) {
      words.clear();
      append_array(words, r.element, to);
      append_from(words, r.element, partial, b * width);
      plan.combines.at(r.reducer)(words.data(), order.data(), 0, width, shop.scratch(0));
    }
  }
}

// All indices add to the same results.
void accumulate(Workshop& shop, const PlanKernels& plan, const PartialReduction& r, const View& from, const View& to,
                Range range) {
  const std::int64_t first = range.begin * r.inner, steps = range.size() * r.regular->steps, width = r.regular->inner;
  if (steps == 0 || width == 0) return;
  const std::int64_t threads = shop.pool.threads(), vectors = (width + reduction_lanes - 1) / reduction_lanes;
  const bool wide = width >= wide_share * threads;
  // Eight results at a time read all steps. One thread takes blocks as well, which the second eight read from caches.
  const bool again = width > reduction_lanes && reduction_block * width <= cached_block / r.element.bytes();
  if (r.any_blocks && steps > reduction_block && (threads > 1 ? !wide : again))
    return accumulate_blocks(shop, plan, r, from, first, to, steps);
  share(shop, vectors, wide ? steps * width : 0, [&](int thread, Range some) {
    const std::int64_t begin = some.begin * reduction_lanes, end = std::min(some.end * reduction_lanes, width);
    if (begin < end)
      Reducer(plan, r, shop.scratch(thread)).call(from, first + begin, to, begin, {1, width, steps, 1, 0}, end - begin);
  });
}

}  // namespace

std::optional<RegularSteps> regular_steps(const PartialReduction& reduction, const std::vector<std::int64_t>& sizes,
                                          const std::vector<std::int64_t>& strides) {
  const auto& parts = reduction.element.components;
  if (std::any_of(parts.begin(), parts.end(), [](const Component& c) { return c.count > 0; }) ||
      reduction.element.planes() > most_planes)
    return std::nullopt;
  RegularSteps steps;
  int stage = 0;  // kept dimensions, then reduced ones, then kept ones
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = strides[i] == 0;
    if (reduced == (stage == 0 || stage == 2)) ++stage;
    if (stage > 2) return std::nullopt;
    std::int64_t& part = stage == 0 ? steps.outer : stage == 1 ? steps.steps : steps.inner;
    part = checked_mul(part, sizes[i], "the elements of an index");
  }
  // Along the cut dimension, the indices come before the first kept dimension.
  if (reduction.accumulates && stage == 0) std::swap(steps.outer, steps.inner);
  if (reduction.accumulates && steps.outer != 1) return std::nullopt;
  return steps;
}

bool combines_in_blocks(const ScalarFunction& reducer) {
  return std::any_of(std::begin(block_reducers), std::end(block_reducers),
                     [&](ScalarOp op) { return is_plain_operator(reducer, op); });
}

void run_regular_reduction(Workshop& shop, const PlanKernels& plan, const PartialReduction& r, const View& from,
                           const View& to, Range range) {
  if (r.accumulates) return accumulate(shop, plan, r, from, to, range);
  const std::int64_t outer = r.regular->outer;
  const bool cached = range.size() * r.inner <= cached_rows / r.element.bytes();
  share(shop, range.size() * outer, range.size() * r.inner, [&](int thread, Range groups) {
    Reducer reducer(plan, r, shop.scratch(thread));
    const std::int64_t first = range.begin * outer;
    reduce_groups(reducer, r, from, to, {first + groups.begin, first + groups.end}, cached);
  });
}

}  // namespace kasen
