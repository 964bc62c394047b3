#include "libkernels/emit/loop_reductions.h"

#include <algorithm>
#include <utility>

namespace kasen {

// A few accumulators live in registers; many would go to and from memory anyway.
void LoopReductions::choose_home(const LoopBody& body) {
  std::int64_t planes = 0;
  for (const Op* op : body.ops) {
    if (op->code == OpCode::reduce) planes += module_.type(op->results[0]).element.planes();
  }
  home_ = planes <= accumulators_in_registers ? Accumulator::Home::block : Accumulator::Home::scratch;
}

void LoopReductions::make(const LoopBody& body, ElementwiseKernel& kernel) {
  choose_home(body);
  for (const Op* op : body.ops) {
    if (op->code != OpCode::reduce) continue;
    const ElementType& element = module_.type(op->results[0]).element;
    const std::int64_t scratch = e_.scratch_bytes();
    reductions_.push_back({op, require_identity(module_, op->fns[0], op->where), kernel.partial_bytes, scratch,
                           Accumulator(e_, element, home_)});
    reductions_.back().lanes.begin_with(reductions_.back().identity);
    for (size_t k = 0; k < body.outputs.size(); ++k) {
      if (body.outputs[k] == op->results[0])
        kernel.reduced.push_back({static_cast<int>(k), op->fns[0], element, kernel.partial_bytes});
    }
    kernel.partial_bytes += 8 * element.planes();
  }
  each([&](const Reduction& r, Accumulator& lanes, llvm::Value*) { lanes.fill(e_, r.identity); });
}

void LoopReductions::accumulate(const Op& reduce, Source& value) {
  const bool saved = std::exchange(e_.compact, e_.compact || in_memory());
  Accumulator& lanes = reductions_[number_of(reduce)].lanes;
  lanes.assign(e_, module_.fn(reduce.fns[0]).body, {&lanes, &value});
  e_.compact = saved;
}

void LoopReductions::add_strip(StripSums& sums, llvm::Value* first, llvm::Value* last,
                               const std::function<void(llvm::Value* i)>& move_to) {
  sums.add_groups(first, last, move_to);
  for (const Op* reduce : sums.reductions()) {
    Reduction& r = reductions_[number_of(*reduce)];
    sums.sum(*reduce, r.lanes, r.identity, first, last, move_to);
  }
}

void LoopReductions::take_groups(StripSums& sums) {
  const bool saved = std::exchange(e_.compact, true);
  sums.total_groups([&](const std::vector<const Op*>& ops, const StripSums::SumsOfMember& sums_of) {
    const size_t first = number_of(*ops.front());
    size_t in_order = 0;
    while (in_order < ops.size() && number_of(*ops[in_order]) == first + in_order) ++in_order;
    if (in_order == ops.size() && alike(first, in_order)) {
      each_alike(first, in_order,
                 [&](const Reduction&, Accumulator& lanes, llvm::Value* k) { lanes.copy(e_, *sums_of(k)); });
      return;
    }
    for (size_t k = 0; k < ops.size(); ++k)
      reductions_[number_of(*ops[k])].lanes.copy(e_, *sums_of(e_.integer(static_cast<std::int64_t>(k))));
  });
  e_.compact = saved;
}

void LoopReductions::close(llvm::Value* partials) {
  each([&](const Reduction& r, Accumulator& lanes, llvm::Value* slot) {
    const ScalarFunction& fn = module_.fn(r.op->fns[0]);
    for (int by = reduction_lanes / 2; by > 0; by /= 2) {
      ShiftedSource other(lanes, by);
      lanes.assign(e_, fn.body, {&lanes, &other});
    }
    SlotSource slots(lanes.element(), e_.at_byte(partials, slot));
    for_each_plane(e_, lanes.element(), [&](int c, const Plane* j) {
      llvm::Value* value = e_.spread(lanes.load(e_, c, j));
      slots.store(e_, c, j, e_.b.CreateExtractElement(value, e_.integer(0)));
    });
  });
}

size_t LoopReductions::number_of(const Op& reduce) const {
  const auto at =
      std::find_if(reductions_.begin(), reductions_.end(), [&](const Reduction& r) { return r.op == &reduce; });
  return static_cast<size_t>(at - reductions_.begin());
}

// Whether several reductions from number `first` on, by one reducer and in memory, exist: then their accumulators and
// their slots lie at equal distances.
bool LoopReductions::alike(size_t first, size_t count) const {
  if (!in_memory() || count < 2 || first + count > reductions_.size()) return false;
  const auto begin = reductions_.begin() + static_cast<std::ptrdiff_t>(first);
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                     [&](const Reduction& r) { return r.op->fns[0] == begin->op->fns[0]; });
}

// Calls body(first, accumulator, k) once, for all of `count` reductions that are alike: in a generated loop over k.
void LoopReductions::each_alike(size_t first, size_t count, const OfAlike& body) {
  const Reduction &r = reductions_[first], &next = reductions_[first + 1];
  e_.forget();
  e_.loop(e_.integer(0), e_.integer(static_cast<std::int64_t>(count)), 1, [&](llvm::Value* k) {
    Accumulator lanes = r.lanes.moved(e_, e_.b.CreateMul(k, e_.integer(next.scratch - r.scratch)));
    body(r, lanes, k);
  });
  e_.forget();
}

// Calls body(reduction, its accumulator, bytes before its slot) for each reduction. Code for those that are alike is
// generated once: it takes longer to compile than to run.
void LoopReductions::each(const OfEach& body) {
  const bool saved = std::exchange(e_.compact, in_memory());
  for (size_t first = 0, count = 1; first < reductions_.size(); first += count, count = 1) {
    Reduction& r = reductions_[first];
    while (alike(first, count + 1)) ++count;
    if (count == 1) {
      body(r, r.lanes, e_.integer(r.slot));
      continue;
    }
    const std::int64_t bytes = 8 * r.lanes.element().planes();
    each_alike(first, count, [&](const Reduction& of, Accumulator& lanes, llvm::Value* k) {
      body(of, lanes, e_.b.CreateAdd(e_.integer(of.slot), e_.b.CreateMul(k, e_.integer(bytes))));
    });
  }
  e_.compact = saved;
}

}  // namespace kasen
