#include "libkernels/run/partial_reduction.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "libcore/base/checked.h"
#include "libcore/data/data.h"
#include "libcore/ir/layout.h"
#include "libkernels/run/regular_reduction.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

constexpr std::int64_t piece = 2048;           // elements of one call of the combine function
constexpr std::int64_t results_at_once = 512;  // their lanes stay in the first cache

// Lane l of result r is element l * results + r of the lanes, so that all lanes meet in three calls.
class Lanes {
 public:
  Lanes(CombineFunction combine, const PartialReduction& reduction, std::int64_t results, std::byte* scratch)
      : combine_(combine),
        reduction_(reduction),
        results_(results),
        memory_(storage_bytes(reduction.element, reduction_lanes * results)),
        view_{memory_.data(), reduction_lanes * results},
        order_(static_cast<size_t>(reduction_lanes / 2 * results)),
        scratch_(scratch) {
    std::iota(order_.begin(), order_.end(), 0);
    restart();
  }

  // lanes[slots[k]] = R(lanes[slots[k]], from[first + k])
  void take(const View& from, std::int64_t first, const std::vector<std::int32_t>& slots, std::int64_t count) {
    call(view_, 0, from, first, slots.data(), count);
  }

  // Combines all lanes into results `first` and on.
  void flush(const View& to, std::int64_t first) {
    for (std::int64_t half = reduction_lanes / 2; half > 0; half /= 2) {
      call(view_, 0, view_, half * results_, order_.data(), half * results_);
    }
    call(to, first, view_, 0, order_.data(), results_);
  }

  // Combines the lanes of result r into result first + r; they begin again.
  void flush_one(const View& to, std::int64_t first, std::int64_t r) {
    constexpr std::int32_t only = 0;
    for (std::int64_t half = reduction_lanes / 2; half > 0; half /= 2) {
      for (std::int64_t l = 0; l < half; ++l) {
        call(view_, l * results_ + r, view_, (l + half) * results_ + r, &only, 1);
      }
    }
    call(to, first + r, view_, r, &only, 1);
    for (std::int64_t l = 0; l < reduction_lanes; ++l) fill_identity(reduction_, view_, l * results_ + r, 1);
  }

  void restart() { fill_identity(reduction_, view_, 0, view_.capacity); }
  [[nodiscard]] std::int64_t results() const { return results_; }

 private:
  void call(const View& target, std::int64_t target_first, const View& values, std::int64_t values_first,
            const std::int32_t* indices, std::int64_t count) {
    words_.clear();
    append_from(words_, reduction_.element, target, target_first);
    append_from(words_, reduction_.element, values, values_first);
    combine_(words_.data(), indices, 0, count, scratch_);
  }

  CombineFunction combine_;
  const PartialReduction& reduction_;
  std::int64_t results_;
  Bytes memory_;
  View view_;
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> words_;
  std::byte* scratch_;
};

// Takes the elements of the indices in `rows`, whose results begin at `first_result`; each result holds its identity.
void reduce_rows(Lanes& lanes, const PartialReduction& r, const View& from, const View& to, Range rows,
                 std::int64_t first_result, std::vector<std::int32_t>& slots) {
  std::int64_t e = 0, row = 0, done = rows.begin * r.inner;
  const std::int64_t end = rows.end * r.inner;
  while (done < end) {
    std::int64_t count = 0, full = -1;
    const std::int64_t most = std::min(piece, end - done);
    while (count < most && full < 0) {
      const auto at = static_cast<size_t>(e);
      const std::int64_t result = r.place[at] + (r.accumulates ? 0 : row * r.results);
      const std::int64_t step = r.step[at] + (r.accumulates ? row * r.steps : 0);
      slots[static_cast<size_t>(count++)] =
          static_cast<std::int32_t>(step % reduction_lanes * lanes.results() + result);
      if ((step + 1) % reduction_block == 0) full = result;
      if (++e == r.inner) {
        e = 0;
        ++row;
      }
    }
    lanes.take(from, done, slots, count);
    if (full >= 0) lanes.flush_one(to, first_result, full);
    done += count;
  }
  const std::int64_t taken = r.accumulates ? rows.size() * r.steps : r.steps;
  if (taken % reduction_block != 0) lanes.flush(to, first_result);
}

// Every index has results of its own: some indices at a time.
void reduce_within(CombineFunction combine, const PartialReduction& r, const View& from, const View& to, Range range,
                   std::byte* scratch) {
  const std::int64_t rows = std::clamp<std::int64_t>(results_at_once / std::max<std::int64_t>(r.results, 1), 1,
                                                     std::max<std::int64_t>(range.size(), 1));
  std::vector<std::int32_t> slots(static_cast<size_t>(piece));
  std::unique_ptr<Lanes> lanes;
  for (std::int64_t begin = range.begin; begin < range.end; begin += rows) {
    const Range some{begin, std::min(begin + rows, range.end)};
    const std::int64_t results = some.size() * r.results;
    if (lanes == nullptr || lanes->results() != results) {
      lanes = std::make_unique<Lanes>(combine, r, results, scratch);
    } else {
      lanes->restart();
    }
    fill_identity(r, to, begin * r.results, results);
    reduce_rows(*lanes, r, from, to, some, begin * r.results, slots);
  }
}

}  // namespace

void append_from(std::vector<std::int64_t>& words, const ElementType& element, const View& view, std::int64_t first) {
  size_t at = words.size();
  append_array(words, element, view);
  for (const Component& c : element.components) {
    words[at] += first * scalar_bytes(c.scalar);
    at += 2;
  }
}

void fill_identity(const PartialReduction& reduction, const View& view, std::int64_t first, std::int64_t count) {
  if (count <= 0) return;
  for (std::int64_t p = 0; p < reduction.element.planes(); ++p) {
    const Scalar scalar = reduction.element.plane_scalar(p);
    const std::int64_t bytes = scalar_bytes(scalar), all = count * bytes;
    std::byte* at = view.data + plane_offset(reduction.element, view.capacity, p) + first * bytes;
    store_word(scalar, at, reduction.identity[static_cast<size_t>(p)]);
    for (std::int64_t done = bytes; done < all; done *= 2)
      std::memcpy(at + done, at, static_cast<size_t>(std::min(done, all - done)));
  }
}

PartialReduction make_partial_reduction(const Module& module, const Op& op) {
  const Type& from = module.type(op.operands[0]);
  const Type& to = module.type(op.results[0]);
  PartialReduction r;
  r.reducer = op.fns[0];
  r.element = to.element;
  r.identity = require_identity(module, r.reducer, op.where);
  r.accumulates = Layout(module, to).is_shared();
  r.counts_writes = !r.accumulates;
  r.any_blocks = combines_in_blocks(module.fn(r.reducer));
  r.counts_reads = Layout(module, from).is_distributed() && !from.compressed;
  std::vector<std::int64_t> sizes, strides;  // of the operand's local dimensions; strides in the results, 0: reduced
  for (const DimId d : from.dims) {
    if (!module.dim(d).local) continue;
    sizes.push_back(std::max<std::int64_t>(module.dim(d).size, 0));
    strides.push_back(std::find(to.dims.begin(), to.dims.end(), d) == to.dims.end() ? 0 : 1);
  }
  for (size_t i = sizes.size(); i-- > 0;) {
    r.inner = checked_mul(r.inner, sizes[i]);
    if (strides[i] == 0) {
      r.steps *= sizes[i];
    } else {
      strides[i] = r.results;
      r.results *= sizes[i];
    }
  }
  r.regular = regular_steps(r, sizes, strides);
  if (!r.regular && r.accumulates &&
      Layout(module, from).is_shared()) {  // of one index, which may have its own results
    r.accumulates = false;
    r.regular = regular_steps(r, sizes, strides);
    r.accumulates = !r.regular;
  }
  if (r.regular) return r;
  if (r.inner > std::numeric_limits<std::int32_t>::max() / reduction_lanes) {
    refuse("a reduction over some of the dimensions", "an index has more than 2^28 elements", op.where);
  }
  std::vector<std::int32_t> met(static_cast<size_t>(r.results), 0);
  for (std::int64_t e = 0; e < r.inner; ++e) {
    std::int64_t rest = e, place = 0;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i]) place += rest % sizes[i] * strides[i];
    r.place.push_back(static_cast<std::int32_t>(place));
    r.step.push_back(met[static_cast<size_t>(place)]++);
  }
  return r;
}

void run_partial_reduction(Workshop& shop, const PlanKernels& plan, const PartialReduction& r, const View& from,
                           const View& to, Range range) {
  if (range.size() <= 0) return;
  if (r.regular) return run_regular_reduction(shop, plan, r, from, to, range);
  const CombineFunction combine = plan.combines.at(r.reducer);
  if (r.accumulates) {
    if (r.inner == 0 || r.results == 0) return;
    Lanes lanes(combine, r, r.results, shop.scratch(0));
    std::vector<std::int32_t> slots(static_cast<size_t>(piece));
    reduce_rows(lanes, r, from, to, range, 0, slots);
    return;
  }
  const std::int64_t threads = range.size() * r.inner < 2 * reduction_block ? 1 : shop.pool.threads();
  const auto run = [&](int thread) {
    const auto limit = [&](std::int64_t t) { return range.begin + range.size() * t / threads; };
    reduce_within(combine, r, from, to, {limit(thread), limit(thread + 1)}, shop.scratch(thread));
  };
  if (threads == 1) {
    run(0);
  } else {
    shop.pool.run(run);
  }
}

}  // namespace kasen
