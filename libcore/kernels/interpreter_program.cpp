#include "libcore/kernels/interpreter_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/axis/grouping.h"
#include "libcore/base/error.h"
#include "libcore/data/data.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/interpreter_product.h"

namespace kasen::interpreter {
namespace {

size_t size_of(const Module& module, DimId dim) {
  return static_cast<size_t>(std::max<std::int64_t>(module.dim(dim).size, 0));
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Module& module, const Op& op) : module_(module), op_(op) {}

  Program build() {
    for (size_t i = 0; i < op_.operands.size(); ++i) {
      const ValueId v = op_.operands[i];
      if (used(v) && cells_.count(v) == 0) program_.cells[cell(v)].input = static_cast<int>(i);
    }
    if (op_.code == OpCode::region) {
      const std::vector<Op>& ops = op_.blocks.at(0).ops;
      if (is_epilogue(op_)) {
        program_.gathered = cell(epilogue_gather(op_).results.at(0));
        program_.cells[program_.gathered].input = static_cast<int>(op_.operands.size());
      }
      for (size_t i = first_work(); i + 1 < ops.size(); ++i) add(ops[i]);
      for (const ValueId v : ops.back().operands) program_.outputs.push_back(cell(v));
    } else {
      add(op_);
      program_.outputs.push_back(cell(op_.results.at(0)));
    }
    for (const size_t out : program_.outputs) {
      if (program_.cells[out].on_slaves) program_.cells[out].used_on_slaves = true;
    }
    for (const Work& work : program_.works) {
      if (!work.on_slaves) continue;
      for (size_t i = 0; i < work.operands.size(); ++i) {
        if (work.handed_on == SIZE_MAX || work.handed_on == i) program_.cells[work.operands[i]].used_on_slaves = true;
      }
    }
    return std::move(program_);
  }

 private:
  // Skips the product and the gather of a product_epilogue region.
  [[nodiscard]] size_t first_work() const { return is_epilogue(op_) ? 2 : 0; }

  // True if the value is read directly, not only by views. Operands that a region lists count as read, except those
  // that only a product before its work reads.
  [[nodiscard]] bool used(ValueId value) const {
    const auto works = op_.code == OpCode::region ? std::span<const Op>(op_.blocks[0].ops).subspan(first_work())
                                                  : std::span<const Op>(&op_, 1);
    const auto shows = [&](const Op& op) { return is_view(op) && viewed(op) == value; };
    if (!is_epilogue(op_) && std::none_of(works.begin(), works.end(), shows)) return true;
    return std::any_of(works.begin(), works.end(), [&](const Op& op) { return reads_along(op, value); });
  }

  size_t cell(ValueId value) {
    const auto [it, fresh] = cells_.emplace(value, program_.cells.size());
    if (!fresh) return it->second;
    const Type& type = module_.type(value);
    Cell made;
    made.value = made.array = value;
    made.element = type.element;
    made.planes = static_cast<size_t>(type.element.planes());
    made.elements = element_count(module_, type);
    made.shared = Layout(module_, type).is_shared();
    made.charged = !type.compressed;  // compressed_reads
    made.on_slaves = !made.shared && (type.state.is_cons() || type.state.is_pre());
    made.words.assign(made.planes * made.elements, Word::integer(0));
    program_.cells.push_back(std::move(made));
    return it->second;
  }

  void add(const Op& op) {
    if (is_view(op)) return add_view(op);
    Work work;
    work.op = &op;
    work.fn = &module_.fn(op.fns.at(0));
    work.reduce = op.code == OpCode::reduce;
    if (!work.reduce && op.code != OpCode::map && op.code != OpCode::apply) {
      throw InternalError(fmt::format("{} stands in an element-wise region", row(op.code).name));
    }
    for (const ValueId v : op.operands) work.operands.push_back(cell(v));
    work.result = cell(op.results.at(0));
    if (work.reduce) {
      add_reduction(work);
    } else {
      add_map(work);
    }
    program_.works.push_back(std::move(work));
  }

  // A view of an array from outside reads it in place. A view of another work's result copies its elements.
  void add_view(const Op& op) {
    Places places = places_of(op);
    const size_t made = cell(op.results.at(0));
    const auto outside = std::find(op_.operands.begin(), op_.operands.end(), viewed(op));
    if (outside != op_.operands.end()) {
      program_.cells[made].input = static_cast<int>(outside - op_.operands.begin());
      program_.cells[made].array = viewed(op);
      program_.cells[made].charged = !module_.type(viewed(op)).compressed;
      program_.cells[made].view = std::move(places);
      program_.cells[made].used_on_slaves = program_.cells[made].on_slaves;  // a view is an operator of the loop
      return;
    }
    Work work;
    work.op = &op;
    work.operands = {cell(viewed(op))};
    work.result = made;
    work.on_slaves = program_.cells[made].on_slaves;
    work.view = std::move(places);
    program_.works.push_back(std::move(work));
  }

  Places places_of(const Op& op) {
    const Type &from = module_.type(viewed(op)), &to = module_.type(op.results.at(0));
    const std::vector<size_t> place = view_places(module_, op);
    const std::ptrdiff_t ranged = ranged_place(module_, op);
    const Layout layout(module_, from);
    Places places;
    places.row = element_count(module_, from);
    if (ranged >= 0) places.begin = cell(range_begin(op));
    std::vector<std::int64_t> shape(to.dims.size(), 1), index(to.dims.size(), 0);
    for (size_t d = 0; d < place.size(); ++d) {
      if (!layout.is_cut(d) && place[d] != no_place)
        shape[place[d]] = static_cast<std::int64_t>(size_of(module_, to.dims[place[d]]));
    }
    const size_t count = element_count(module_, to);
    for (size_t e = 0; e < count; ++e, next_index(index, shape)) {
      size_t at = 0;
      for (size_t d = 0; d < place.size(); ++d) {
        if (layout.is_cut(d)) continue;
        at *= size_of(module_, from.dims[d]);
        if (place[d] != no_place) at += static_cast<size_t>(index[place[d]]);
      }
      places.at.push_back(at);
    }
    if (ranged >= 0) places.step = 1;
    for (size_t d = place.size(); ranged >= 0 && std::cmp_greater(d, ranged + 1); --d) {
      if (!layout.is_cut(d - 1)) places.step *= size_of(module_, from.dims[d - 1]);
    }
    return places;
  }

  void add_map(Work& work) {
    const Type& result = module_.type(program_.cells[work.result].value);
    for (const size_t c : work.operands) {
      work.places.push_back(broadcast(module_, result, module_.type(program_.cells[c].value)));
    }
    work.on_slaves = program_.cells[work.result].on_slaves;
    const LawUse* law = law_in_force(module_, *work.op);
    if (law != nullptr && law->kind == LawKind::pushdown) work.handed_on = static_cast<size_t>(law->operand);
  }

  void add_reduction(Work& work) {
    Cell& result = program_.cells[work.result];
    const Type& from = module_.type(work.op->operands[0]);
    work.places.push_back(broadcast(module_, from, module_.type(result.value)));
    result.accumulator = result.shared;
    const bool pre = from.state.is_pre();
    work.on_slaves = result.shared ? pre : result.on_slaves;
    const auto identity = reducer_identity(*work.fn);
    if (!identity) {
      fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", work.fn->name),
           "a worker without a contribution holds it", "reduce with a function that has one", work.op->where);
    }
    work.reduction.identity = *identity;
  }

  const Module& module_;
  const Op& op_;
  Program program_;
  std::map<ValueId, size_t> cells_;
};

}  // namespace

size_t element_count(const Module& module, const Type& type) {
  size_t count = 1;
  for (const DimId dim : Layout(module, type).whole_dims()) count *= size_of(module, dim);
  return count;
}

std::vector<size_t> broadcast(const Module& module, const Type& outer, const Type& inner) {
  const std::vector<DimId> outer_dims = Layout(module, outer).whole_dims();
  const std::vector<DimId> inner_dims = Layout(module, inner).whole_dims();
  std::vector<size_t> strides(outer_dims.size(), 0);
  const std::vector<std::ptrdiff_t> met = met_axes(outer_dims, inner_dims);
  size_t stride = 1;
  for (size_t i = inner_dims.size(); i-- > 0;) {
    if (met[i] != no_axis) strides[static_cast<size_t>(met[i])] = stride;
    stride *= size_of(module, inner_dims[i]);
  }
  const size_t count = element_count(module, outer);
  std::vector<size_t> places(count, 0);
  for (size_t e = 0; e < count; ++e) {
    size_t rest = e;
    for (size_t o = outer_dims.size(); o-- > 0;) {
      const size_t size = size_of(module, outer_dims[o]);
      places[e] += rest % size * strides[o];
      rest /= size;
    }
  }
  return places;
}

Program make_program(const Module& module, const Op& op) { return ProgramBuilder(module, op).build(); }

std::int64_t element_at(const Program& program, const Places& view, std::int64_t index, size_t e) {
  const size_t begin = view.begin == SIZE_MAX ? 0 : static_cast<size_t>(program.cells[view.begin].words.at(0).i);
  return index * static_cast<std::int64_t>(view.row) + static_cast<std::int64_t>(view.at.at(e) + begin * view.step);
}

void reduce_into(const ScalarFunction& fn, std::span<Word> acc, std::span<const Word> next) {
  if (acc.size() == 1) {
    const std::span<const Word> old(acc.data(), 1);
    Word made{};
    const std::span<const Word> args[2] = {old, next};
    evaluate(fn, args, std::span(&made, 1));
    acc[0] = made;
    return;
  }
  const std::vector<Word> old(acc.begin(), acc.end());
  const std::span<const Word> args[2] = {old, next};
  evaluate(fn, args, acc);
}

void reset(Reduction& r, size_t elements) {
  const size_t planes = r.identity.size();
  r.taken.assign(elements, 0);
  r.lanes.resize(elements * reduction_lanes * planes);
  for (size_t i = 0; i < r.lanes.size(); ++i) r.lanes[i] = r.identity[i % planes];
}

void flush(const ScalarFunction& fn, Reduction& r, size_t at, std::span<Word> acc) {
  if (r.taken[at] == 0) return;
  const size_t planes = r.identity.size();
  const auto lane = [&](size_t l) { return std::span(r.lanes).subspan((at * reduction_lanes + l) * planes, planes); };
  for (size_t step = reduction_lanes / 2; step > 0; step /= 2) {
    for (size_t l = 0; l < step; ++l) reduce_into(fn, lane(l), lane(l + step));
  }
  reduce_into(fn, acc, lane(0));
  for (size_t l = 0; l < reduction_lanes; ++l) std::copy(r.identity.begin(), r.identity.end(), lane(l).begin());
  r.taken[at] = 0;
}

void take(const ScalarFunction& fn, Reduction& r, size_t at, std::span<const Word> next, std::span<Word> acc) {
  const size_t planes = r.identity.size();
  const auto l = static_cast<size_t>(r.taken[at]) % reduction_lanes;
  reduce_into(fn, std::span(r.lanes).subspan((at * reduction_lanes + l) * planes, planes), next);
  if (++r.taken[at] == reduction_block) flush(fn, r, at, acc);
}

void scan(const AxisCall& call) {
  const ScalarFunction& fn = call.module->fn(call.op->fns.at(0));
  const Lens from(fn.result(), call.inputs[0]), to(fn.result(), call.output);
  const AxisLines lines = lines_of(call);
  std::vector<Word> before(static_cast<size_t>(fn.result().planes())), next(before.size());
  for (std::int64_t line = 0; line < lines.lines(); ++line) {
    std::int64_t at = line / lines.inner * lines.length * lines.inner + line % lines.inner;
    for (std::int64_t k = 0; k < lines.length; ++k, at += lines.inner) {
      from.load(at, k == 0 ? before.data() : next.data());
      if (k > 0) reduce_into(fn, before, next);
      to.store(at, before.data());
    }
  }
}

void carry(const ScalarFunction& fn, const CarryCall& call) {
  const Lens carries(fn.result(), call.carries), array(fn.result(), call.array);
  std::vector<Word> before(static_cast<size_t>(fn.result().planes())), next(before.size());
  const std::int64_t inner = call.lines.inner, row = call.lines.length * inner;
  for (std::int64_t i = 0; i < call.lines.outer * row; ++i) {
    carries.load(i / row * inner + i % inner, before.data());
    array.load(i, next.data());
    reduce_into(fn, before, next);
    array.store(i, before.data());
  }
}

namespace {

// The blocks of a reduce_by, one after another.
class Grouping {
 public:
  Grouping(const AxisCall& call, const GroupWalk& walk)
      : call_(call),
        walk_(walk),
        fn_(call.module->fn(call.op->fns.at(0))),
        from_(fn_.result(), call.inputs[0]),
        to_(fn_.result(), call.output),
        planes_(static_cast<size_t>(fn_.result().planes())),
        identities_(static_cast<size_t>(walk.results()) * planes_),
        here_(planes_),
        next_(planes_) {
    for (std::int64_t i = 0; i < walk.results(); ++i) to_.load(i, &identities_[static_cast<size_t>(i) * planes_]);
    made_ = identities_;
  }

  void take(std::int64_t block, std::int64_t begin, std::int64_t end) {
    if (block != block_) {
      keep();
      block_ = block;
      made_ = identities_;
    }
    constexpr std::int64_t some = 4096;
    for (std::int64_t i = begin; i < end; i += some) {
      places_.resize(static_cast<size_t>(std::min(some, end - i)));
      if (const auto outside = walk_.targets(i, places_)) refuse_key(call_, outside->place);
      for (size_t j = 0; j < places_.size(); ++j) {
        from_.load(walk_.single() ? 0 : i + static_cast<std::int64_t>(j), next_.data());
        Word* const at = &made_[static_cast<size_t>(places_[j]) * planes_];
        here_.assign(at, at + planes_);
        reduce_into(fn_, here_, next_);
        std::copy(here_.begin(), here_.end(), at);
      }
    }
  }

  // The block onto those before it.
  void keep() {
    for (std::int64_t i = 0; i < walk_.results(); ++i) {
      const Word* const at = &made_[static_cast<size_t>(i) * planes_];
      if (block_ > 0) {
        to_.load(i, here_.data());
        next_.assign(at, at + planes_);
        reduce_into(fn_, here_, next_);
      }
      to_.store(i, block_ > 0 ? here_.data() : at);
    }
  }

 private:
  const AxisCall& call_;
  const GroupWalk& walk_;
  const ScalarFunction& fn_;
  const Lens from_, to_;
  size_t planes_;
  std::vector<Word> identities_, made_, here_, next_;
  std::vector<std::int64_t> places_;
  std::int64_t block_ = 0;
};

}  // namespace

void reduce_by(const AxisCall& call) {
  const GroupWalk walk(call);
  Grouping grouping(call, walk);
  for_each_piece(call, walk,
                 [&](std::int64_t block, std::int64_t begin, std::int64_t end) { grouping.take(block, begin, end); });
  grouping.keep();
}

void combine(const ScalarFunction& fn, const Mirrored& list) {
  const ElementType& element = fn.result();
  const Lens lens(element, list.masters);
  const auto planes = static_cast<size_t>(element.planes());
  std::vector<const std::byte*> bases;
  for (size_t p = 0; p < planes; ++p) bases.push_back(list.copies_at(element, static_cast<std::int64_t>(p)));
  std::vector<Word> here(planes), next(planes);
  std::int64_t k = 0;
  list.elements.for_each_run(0, list.count(), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i, ++k) {
      for (size_t p = 0; p < planes; ++p) {
        const Scalar s = element.plane_scalar(static_cast<std::int64_t>(p));
        next[p] = load_word(s, bases[p] + k * scalar_bytes(s));
      }
      lens.load(i, here.data());
      reduce_into(fn, here, next);
      lens.store(i, here.data());
    }
  });
}

}  // namespace kasen::interpreter
