// Operators along axes of an array: scan, sort, argsort, take, slice, concat, reshape, reduce_by.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/axis/axis.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/observed.h"
#include "libcore/reference/interpreter_state.h"

namespace kasen::reference {

template <class Use>
void Interpreter::for_lines(const Op& op, const Use& use) const {
  const std::vector<std::int64_t> shape = shape_of(module_.type(op.operands.at(0)).dims);
  const auto along = static_cast<std::ptrdiff_t>(worked_place(module_, op));
  const std::int64_t length = shape[static_cast<size_t>(along)];
  const std::int64_t outer = product_of({shape.begin(), shape.begin() + along});
  const std::int64_t apart = product_of({shape.begin() + along + 1, shape.end()});
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < apart; ++i) use(o * length * apart + i, apart, length);
  }
}

// In the order of the elements; other orders of combination begin with the later ones.
void Interpreter::run_scan(const Op& op) {
  const ValueId v = op.results.at(0), from = op.operands.at(0);
  const size_t planes = planes_of(v);
  Words made = words(from);
  work_.calls(count_of(v), op.fns[0]);
  const auto here = [&](std::int64_t at) { return std::span(made).subspan(static_cast<size_t>(at) * planes, planes); };
  const ScalarFunction& fn = module_.fn(op.fns[0]);
  // Each element by itself: with all before it in groups of two, then four, ... (Hillis and Steele).
  const auto by_doubling = [&](std::int64_t first, std::int64_t apart, std::int64_t length) {
    for (std::int64_t step = 1; step < length; step *= 2) {
      for (std::int64_t k = length; k-- > step;) {
        const Words left(here(first + (k - step) * apart).begin(), here(first + (k - step) * apart).end());
        const Words right(here(first + k * apart).begin(), here(first + k * apart).end());
        const std::span<const Word> args[2] = {left, right};
        evaluate(fn, args, here(first + k * apart));
      }
    }
  };
  for_lines(op, [&](std::int64_t first, std::int64_t apart, std::int64_t length) {
    if (options_.order != 0) return by_doubling(first, apart, length);
    for (std::int64_t k = 1; k < length; ++k) {
      const Words left(here(first + (k - 1) * apart).begin(), here(first + (k - 1) * apart).end());
      const Words right(here(first + k * apart).begin(), here(first + k * apart).end());
      const std::span<const Word> args[2] = {left, right};
      evaluate(fn, args, here(first + k * apart));
    }
  });
  set(v, std::move(made));
}

void Interpreter::run_sort(const Op& op) {
  const ValueId v = op.results.at(0), from = op.operands.at(0);
  const Words& given = words(from);
  const Scalar scalar = module_.type(from).element.plane_scalar(0);
  Words made(given.size());
  work_.copies(count_of(v), 1);
  std::vector<std::int64_t> places;
  for_lines(op, [&](std::int64_t first, std::int64_t apart, std::int64_t length) {
    places.resize(static_cast<size_t>(length));
    std::iota(places.begin(), places.end(), std::int64_t{0});
    const auto at = [&](std::int64_t k) -> const Word& { return given[static_cast<size_t>(first + k * apart)]; };
    std::stable_sort(places.begin(), places.end(),
                     [&](std::int64_t a, std::int64_t b) { return comes_before(scalar, at(a), at(b)); });
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t place = places[static_cast<size_t>(k)];
      made[static_cast<size_t>(first + k * apart)] = op.code == OpCode::sort ? at(place) : Word::integer(place);
    }
  });
  set(v, std::move(made));
}

void Interpreter::run_take(const Op& op) {
  const ValueId v = op.results.at(0), array = op.operands.at(0), places = op.operands.at(1);
  const std::vector<DimId>&dims = module_.type(v).dims, &whole = module_.type(array).dims;
  const auto shape = shape_of(dims);
  const auto in_result = axis_op_places(module_, op, 0), of_places = axis_op_places(module_, op, 1);
  const std::int64_t size = dim_size(worked_dim(op));
  const std::int64_t count = product_of(shape);
  work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
  Words made;
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
    std::int64_t from = 0, at = 0;
    for (size_t d = 0; d < of_places.size(); ++d) {
      from = from * dim_size(module_.type(places).dims[d]) + index[static_cast<size_t>(of_places[d])];
    }
    const std::int64_t place = element(places, from)[0].i;
    if (place < 0 || place >= size) refuse_outside(op, {module_.dim(worked_dim(op)).name, false, size}, place);
    for (size_t d = 0; d < whole.size(); ++d) {
      const std::int64_t k = in_result[d] < 0 ? place : index[static_cast<size_t>(in_result[d])];
      at = at * dim_size(whole[d]) + k;
    }
    const std::span<const Word> taken = element(array, at);
    made.insert(made.end(), taken.begin(), taken.end());
  }
  set(v, std::move(made));
}

void Interpreter::run_reduce_by(const Op& op) {
  const ValueId v = op.results.at(0), array = op.operands.at(0), keys = op.operands.at(1);
  const size_t walked = walked_operand(module_, op);
  const std::vector<DimId>& dims = module_.type(op.operands[walked]).dims;
  const std::vector<DimId>&key_dims = module_.type(keys).dims, &result_dims = module_.type(v).dims;
  const std::vector<std::ptrdiff_t> places = grouped_places(module_, op);
  const size_t key_at = key_place(module_, op);
  const std::int64_t size = dim_size(key_dim(module_, op));
  const auto shape = shape_of(dims);
  const std::int64_t count = product_of(shape);
  Words made = identities(op.fns.at(0), count_of(v), op.where);
  work_.calls(count, op.fns[0]);
  std::vector<std::int64_t> index(shape.size(), 0), to(result_dims.size(), 0);
  in_order(count, [&](std::int64_t i) {
    set_index(index, shape, i);
    std::int64_t from = 0, place = 0;
    for (const DimId d : key_dims) {
      const auto axis = static_cast<size_t>(std::find(dims.begin(), dims.end(), d) - dims.begin());
      from = from * shape[axis] + index[axis];
    }
    const std::int64_t key = element(keys, from)[0].i;
    if (key < 0 || key >= size) {
      fail(ExitStatus::bad_input, fmt::format("a key {} of '{}'", key, module_.dim(key_dim(module_, op)).name),
           fmt::format("it has {} indices", size), "make the dimension larger, or the keys fit", op.where);
    }
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (places[axis] >= 0) to[static_cast<size_t>(places[axis])] = index[axis];
    }
    to[key_at] = key;
    for (size_t axis = 0; axis < to.size(); ++axis) place = place * dim_size(result_dims[axis]) + to[axis];
    fold(op.fns[0], made, place, element(array, walked == 0 ? i : 0));
  });
  set(v, std::move(made));
}

// Element by element of the result: where it stands in its operand. `line` gives the index along the dimensions that
// the operator works along.
template <class Line>
Words Interpreter::rearranged(const Op& op, const Line& line) {
  const ValueId v = op.results.at(0);
  const std::vector<DimId>& dims = module_.type(v).dims;
  const AxisRange made = made_axes(module_, op);
  const std::vector<std::int64_t> shape = shape_of(dims);
  const std::int64_t count = product_of(shape);
  work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
  Words words;
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
    std::int64_t along = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (made.has(d)) along = along * shape[d] + index[d];
    }
    const Place from = line(along);
    const std::vector<DimId>& whole = module_.type(op.operands[from.operand]).dims;
    const std::vector<std::ptrdiff_t> places = axis_op_places(module_, op, from.operand);
    std::int64_t at = 0;
    bool placed = false;  // of several neighbouring dimensions, `along` counts all
    for (size_t d = 0; d < whole.size(); ++d) {
      if (places[d] >= 0) at = at * dim_size(whole[d]) + index[static_cast<size_t>(places[d])];
      if (places[d] < 0 && !placed) at = at * from.size + from.index;
      placed = placed || places[d] < 0;
    }
    const std::span<const Word> taken = element(op.operands[from.operand], at);
    words.insert(words.end(), taken.begin(), taken.end());
  }
  return words;
}

void Interpreter::run_slice(const Op& op) {
  const std::int64_t size = dim_size(op.over.at(0));
  const SizeOf size_of = [&](DimId dim) { return dim_size(dim); };
  require_inside(module_, op, size_of);
  const SlicedIndices indices = sliced_by(module_, op, size_of);
  set(op.results.at(0), rearranged(op, [&](std::int64_t k) {
        return Place{0, size, indices.first + k * indices.step};
      }));
}

void Interpreter::run_concat(const Op& op) {
  set(op.results.at(0), rearranged(op, [&](std::int64_t k) {
        size_t part = 0;
        for (; k >= dim_size(op.over.at(part)); ++part) k -= dim_size(op.over[part]);
        return Place{part, dim_size(op.over[part]), k};
      }));
}

void Interpreter::run_reshape(const Op& op) {
  const std::int64_t size = dim_size(op.dim);
  set(op.results.at(0), rearranged(op, [&](std::int64_t k) { return Place{0, size, k}; }));
}

void Interpreter::run_pick(const Op& op) {
  const Words& mask = words(op.operands.at(1));
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < std::ssize(mask); ++k) {
    if (mask[static_cast<size_t>(k)].i != 0) places.push_back(k);
  }
  if (std::ssize(places) != dim_size(op.dim)) {
    fail(ExitStatus::bad_input, fmt::format("a mask that is true at {} indices", places.size()),
         fmt::format("dimension '{}' has {}: the size that another mask gave it", module_.dim(op.dim).name,
                     dim_size(op.dim)),
         "declare a dimension for each mask", op.where);
  }
  set(op.results.at(0), rearranged(op, [&](std::int64_t k) {
        return Place{0, dim_size(op.over.at(0)), places[static_cast<size_t>(k)]};
      }));
}

void Interpreter::run_within(const Op& op) {
  held(op.results.at(0)) = held(op.operands.at(0));
  require_inside({module_.dim(op.dim).name, dim_size(op.dim), 1, true}, integer(op.operands[0]), op.where);
}

void Interpreter::run_observe(const Op& op) {
  held(op.results.at(0)) = held(op.operands.at(0));
  const std::int64_t size = integer(op.operands[0]);
  require_observed_size(module_.dim(op.dim), size, dim_size(module_.dim(op.dim).derived.sources.at(0)), op.where);
  sizes_[op.dim] = size;
  for (const DimId d : module_.dims.ids()) {
    const Derivation& derived = module_.dim(d).derived;
    if (module_.dim(d).is_observed() || !contains(observed_sources(module_.dims, d), op.dim)) continue;
    sizes_[d] = derived_size(derived, [&](DimId source) { return sizes_.at(source); });
  }
}

void Interpreter::run_relayout(const Op& op) {
  switch (rearrangement_of(module_, op)) {
    case OpCode::slice:
      return run_slice(op);
    case OpCode::concat:
      return run_concat(op);
    case OpCode::reshape:
      return run_reshape(op);
    case OpCode::pick:
      return run_pick(op);
    default:
      return run_transition(op);
  }
}

}  // namespace kasen::reference
