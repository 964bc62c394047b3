// Element-wise operators: maps, reductions, views.
#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter_state.h"

namespace kasen::reference {
namespace {

// Whether results are rounded, as those of a selection (max, argmax) are not.
bool adds(const Expr& e) {
  const bool real = e.type.is_scalar() && (e.type.is(Scalar::f64) || e.type.is(Scalar::f32));
  const bool rounds = real && e.op != ScalarOp::param && e.op != ScalarOp::constant && e.op != ScalarOp::select &&
                      e.op != ScalarOp::component && e.op != ScalarOp::min && e.op != ScalarOp::max;
  return rounds || std::any_of(e.args.begin(), e.args.end(), adds);
}

}  // namespace

std::vector<std::int64_t> Interpreter::strides_in(const std::vector<DimId>& outer,
                                                  const std::vector<DimId>& dims) const {
  std::vector<std::int64_t> strides(outer.size(), 0);
  std::int64_t stride = 1;
  size_t limit = outer.size();
  for (size_t i = dims.size(); i-- > 0;) {
    while (limit > 0 && outer[limit - 1] != dims[i]) --limit;
    if (limit == 0) throw InternalError("an operand has a dimension that the result lacks");
    strides[--limit] = stride;
    stride *= dim_size(dims[i]);
  }
  return strides;
}

void Interpreter::run_map(const Op& op) {
  const ValueId v = op.results.at(0);
  const ScalarFunction& fn = module_.fn(op.fns.at(0));
  const std::vector<DimId>& dims = module_.type(v).dims;
  const auto shape = shape_of(dims);
  std::vector<std::vector<std::int64_t>> strides;
  for (const ValueId from : op.operands) strides.push_back(strides_in(dims, module_.type(from).dims));
  const std::int64_t count = product_of(shape);
  const size_t planes = planes_of(v);
  work_.calls(count, op.fns[0]);
  Words made(static_cast<size_t>(count) * planes);
  std::vector<std::int64_t> index(shape.size(), 0);
  std::vector<std::span<const Word>> args(op.operands.size());
  for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
    for (size_t k = 0; k < args.size(); ++k) args[k] = element(op.operands[k], offset(index, strides[k]));
    evaluate(fn, args, std::span(made).subspan(static_cast<size_t>(i) * planes, planes));
  }
  set(v, std::move(made));
}

void Interpreter::run_view(const Op& op) {
  const ValueId v = op.results.at(0), from = viewed(op);
  const auto shape = shape_of(module_.type(v).dims), whole = shape_of(module_.type(from).dims);
  const std::vector<size_t> places = view_places(module_, op);
  const std::ptrdiff_t ranged = ranged_place(module_, op);
  std::int64_t begin = 0;
  if (ranged >= 0) {
    begin = integer(range_begin(op));
    RangeSizes sizes = range_sizes(module_, op);
    sizes.whole = dim_size(op.over[0]);
    if (!sizes.single) sizes.size = dim_size(op.dim);
    require_inside(sizes, begin, op.where);
  }
  Words made;
  std::vector<std::int64_t> index(shape.size(), 0);
  const std::int64_t count = product_of(shape);
  work_.copies(count, static_cast<std::int64_t>(planes_of(v)));
  for (std::int64_t i = 0; i < count; ++i, next_index(index, shape)) {
    std::int64_t at = 0;
    for (size_t d = 0; d < whole.size(); ++d) {
      at = at * whole[d] + (places[d] == no_place ? 0 : index[places[d]]) + (std::cmp_equal(d, ranged) ? begin : 0);
    }
    const std::span<const Word> taken = element(from, at);
    made.insert(made.end(), taken.begin(), taken.end());
  }
  set(v, std::move(made));
}

Words Interpreter::identities(FnId reducer, std::int64_t count, const Location& where) const {
  const auto identity = reducer_identity(module_.fn(reducer));
  if (!identity) {
    fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", module_.fn(reducer).name), "",
         "reduce with a function that has one", where);
  }
  Words made;
  for (std::int64_t i = 0; i < count; ++i) made.insert(made.end(), identity->begin(), identity->end());
  return made;
}

std::int64_t Interpreter::nth(std::int64_t k, std::int64_t count) const {
  constexpr int beginnings = 5;
  const std::int64_t first = count / beginnings * (options_.order / 2 % beginnings);
  const std::int64_t from_first = options_.order % 2 != 0 ? count - 1 - k : k;
  return first + from_first < count ? first + from_first : first + from_first - count;
}

void Interpreter::fold(FnId reducer, Words& acc, std::int64_t at, std::span<const Word> next) const {
  const size_t planes = next.size();
  const auto here = std::span(acc).subspan(static_cast<size_t>(at) * planes, planes);
  const Words old(here.begin(), here.end());
  const std::span<const Word> args[2] = {old, next};
  evaluate(module_.fn(reducer), args, here);
  if (options_.order != 0 && adds(module_.fn(reducer).body)) round_otherwise(module_.fn(reducer).result(), here);
}

// Another order of equal numbers has the same sum, and sums in the lanes of a vector have others. So each addition is
// wrong in its last bit or the one before, up or down.
void Interpreter::round_otherwise(const ElementType& element, std::span<Word> here) const {
  for (size_t p = 0; p < here.size(); ++p) {
    const Scalar scalar = element.plane_scalar(static_cast<std::int64_t>(p));
    if (scalar != Scalar::f64 && scalar != Scalar::f32) continue;
    noise_ = noise_ * 6364136223846793005U + 1442695040888963407U;
    const double share = static_cast<double>(noise_ >> 40) * 0x1p-23 - 1;  // -1 to 1
    const double moved = here[p].f * (1 + 2 * share * (scalar == Scalar::f32 ? 0x1p-24 : 0x1p-53));
    here[p] = Word::real(scalar == Scalar::f32 ? static_cast<double>(static_cast<float>(moved)) : moved);
  }
}

void Interpreter::run_reduce(const Op& op) {
  const ValueId v = op.results.at(0), from = op.operands.at(0);
  const std::vector<DimId>& dims = module_.type(from).dims;
  const auto shape = shape_of(dims);
  const auto strides = strides_in(dims, module_.type(v).dims);
  Words made = identities(op.fns.at(0), count_of(v), op.where);
  std::vector<std::int64_t> index(shape.size(), 0);
  const std::int64_t count = product_of(shape);
  work_.calls(count, op.fns[0]);
  in_order(count, [&](std::int64_t i) {
    set_index(index, shape, i);
    fold(op.fns[0], made, offset(index, strides), element(from, i));
  });
  set(v, std::move(made));
}

}  // namespace kasen::reference
