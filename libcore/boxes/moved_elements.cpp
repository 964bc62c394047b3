#include "libcore/boxes/moved_elements.h"

#include <algorithm>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

IndexRuns shifted(IndexRuns runs, std::int64_t by) {
  for (IndexRun& run : runs) run.first += by;
  return runs;
}

// The indices of a product: of each index of the first dimension, those of the second, of `size` indices.
IndexRuns product(const IndexRuns& outer, const IndexRuns& inner, std::int64_t size) {
  IndexRuns runs;
  const bool whole = count_of(inner) == size;
  for (const IndexRun& run : outer) {
    if (whole) {
      append_run(runs, {run.first * size, run.count * size});
      continue;
    }
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
      for (const IndexRun& part : inner) append_run(runs, {i * size + part.first, part.count});
    }
  }
  return runs;
}

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return a <= 0 ? -(-a / b) : (a - 1) / b + 1; }

}  // namespace

MovedElements::MovedElements(const Module& module, const Op& op, std::span<const std::int64_t> picked)
    : picked_(picked) {
  if (!rearranges_on_the_way(op)) return;
  const std::vector<DimId>&from = module.type(op.operands.at(0)).dims, &to = module.type(op.results.at(0)).dims;
  axis_ = static_cast<std::size_t>(std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first - from.begin());
  switch (rearrangement_of(module, op)) {
    case OpCode::slice:
      way_ = Way::slice;
      slice_ = sliced_by(module, op);
      break;
    case OpCode::pick:
      way_ = Way::pick;
      break;
    case OpCode::concat: {
      way_ = Way::concat;
      std::int64_t before = 0;
      for (const DimId dim : op.over) {
        offsets_.push_back(before);
        before = checked_add(before, module.dim(dim).size, "a dimension");
      }
      break;
    }
    case OpCode::reshape:
      way_ = contains(from, op.dim) ? Way::split : Way::join;
      for (const DimId dim : op.over) sizes_.push_back(module.dim(dim).size);
      break;
    default:
      throw InternalError("a relayout that rearranges otherwise");
  }
}

Elements MovedElements::with_product(Elements elements) const {
  const auto first = elements.axes.begin() + static_cast<std::ptrdiff_t>(axis_);
  IndexRuns runs = *first;
  for (std::size_t i = 1; i < sizes_.size(); ++i) {
    runs = product(runs, *(first + static_cast<std::ptrdiff_t>(i)), sizes_[i]);
  }
  *first = std::move(runs);
  elements.axes.erase(first + 1, first + static_cast<std::ptrdiff_t>(sizes_.size()));
  return elements;
}

// The indices of the slice whose source is among these.
IndexRuns MovedElements::sliced(const IndexRuns& source) const {
  IndexRuns runs;
  const std::int64_t last = slice_.count - 1, step = slice_.step, by = step < 0 ? -step : step;
  const auto add = [&](const IndexRun& run) {
    // first + step k lies in begin .. end - 1; from the end on, if the step is negative
    const std::int64_t begin = run.first - slice_.first, end = begin + run.count - 1;
    const std::int64_t low = step > 0 ? ceiling(begin, by) : ceiling(-end, by);
    const std::int64_t high = step > 0 ? -ceiling(-end, by) : -ceiling(begin, by);
    const std::int64_t from = std::max<std::int64_t>(low, 0), to = std::min(high, last);
    if (from <= to) append_run(runs, {from, to - from + 1});
  };
  if (step > 0) std::for_each(source.begin(), source.end(), add);
  if (step < 0) std::for_each(source.rbegin(), source.rend(), add);
  return runs;
}

// Picked elements keep their order: those of a run follow one another.
IndexRuns MovedElements::picks_of(const IndexRuns& source) const {
  IndexRuns runs;
  const auto before = [&](std::int64_t index) {
    return std::lower_bound(picked_.begin(), picked_.end(), index) - picked_.begin();
  };
  for (const IndexRun& run : source) {
    const std::int64_t first = before(run.first), count = before(run.first + run.count) - first;
    if (count > 0) append_run(runs, {first, count});
  }
  return runs;
}

Elements MovedElements::of_operand(std::size_t operand, Elements elements) const {
  switch (way_) {
    case Way::slice:
      elements.axes.at(axis_) = sliced(elements.axes[axis_]);
      return elements;
    case Way::pick:
      elements.axes.at(axis_) = picks_of(elements.axes[axis_]);
      return elements;
    case Way::concat:
      elements.axes.at(axis_) = shifted(std::move(elements.axes[axis_]), offsets_.at(operand));
      return elements;
    case Way::join:
      return with_product(std::move(elements));
    default:
      return elements;
  }
}

Elements MovedElements::of_result(Elements elements) const {
  return way_ == Way::split ? with_product(std::move(elements)) : elements;
}

// The places of the sources of a slice's indices, in its order.
PlaceList::Axis MovedElements::axis_of_slice(const IndexRuns& some, const IndexRuns& memory) const {
  PlaceList::Axis axis;
  axis.extent = count_of(memory);
  if (memory.size() == 1) {
    for (const IndexRun& run : some) axis.indices.append_run(run.first, run.count);
    axis.first = slice_.first - memory[0].first;
    axis.step = slice_.step;
    return axis;
  }
  std::vector<std::int64_t> before;  // indices of the memory before each of its runs
  std::int64_t count = 0;
  for (const IndexRun& run : memory) {
    before.push_back(count);
    count += run.count;
  }
  for (const IndexRun& run : some) {
    for (std::int64_t k = run.first; k < run.first + run.count; ++k) {
      const std::int64_t index = slice_.first + slice_.step * k;
      const auto behind = std::upper_bound(memory.begin(), memory.end(), index,
                                           [](std::int64_t i, const IndexRun& one) { return i < one.first; });
      if (behind == memory.begin() || index >= (behind - 1)->first + (behind - 1)->count) {
        throw InternalError("a box lacks indices that it should have");
      }
      const auto held = static_cast<std::size_t>(behind - 1 - memory.begin());
      axis.indices.append_run(before[held] + index - memory[held].first, 1);
    }
  }
  return axis;
}

PlaceList::Axis MovedElements::axis_of_picks(const IndexRuns& some, const IndexRuns& memory) const {
  PlaceList::Axis axis;
  axis.extent = count_of(memory);
  std::size_t held = 0;     // the run of the memory that has the next index
  std::int64_t before = 0;  // indices of the memory before this run
  for (const IndexRun& run : some) {
    for (std::int64_t k = run.first; k < run.first + run.count; ++k) {
      const std::int64_t index = picked_[static_cast<std::size_t>(k)];
      for (; index >= memory.at(held).first + memory[held].count; ++held) before += memory[held].count;
      axis.indices.append_run(before + index - memory[held].first, 1);
    }
  }
  return axis;
}

PlaceList MovedElements::places_in_operand(std::size_t operand, const Elements& some, const Elements& memory) const {
  if (way_ != Way::slice && way_ != Way::pick) return places_in(some, of_operand(operand, memory));
  if (way_ == Way::slice && slice_.step == 1) {
    Elements here = some;
    here.axes.at(axis_) = shifted(std::move(here.axes[axis_]), slice_.first);
    return places_in(here, memory);
  }
  if (some.count() == 0) return {};
  std::vector<PlaceList::Axis> axes;
  for (std::size_t axis = 0; axis < some.axes.size(); ++axis) {
    const IndexRuns &here = some.axes[axis], &all = memory.axes[axis];
    axes.push_back(axis == axis_ ? (way_ == Way::pick ? axis_of_picks(here, all) : axis_of_slice(here, all))
                                 : PlaceList::Axis{indices_in(here, all), count_of(all), 0, 1});
  }
  return PlaceList(std::move(axes));
}

PlaceList MovedElements::places_in_result(const Elements& some, const Elements& memory) const {
  return places_in(some, of_result(memory));
}

}  // namespace kasen
