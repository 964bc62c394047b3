// Elements at indices: variables, and numbers added to them. `x[i - 1]` with i over a slice of x's dimension is an
// element of a displaced slice.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/lang/calls/view.h"
#include "libcore/lang/indexed/indexed.h"
#include "libcore/lang/indexed/mentions.h"

namespace kasen::lang {
namespace {

std::int64_t result_of(ScalarOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool beyond = op == ScalarOp::add   ? __builtin_add_overflow(a, b, &result)
                      : op == ScalarOp::sub ? __builtin_sub_overflow(a, b, &result)
                                            : __builtin_mul_overflow(a, b, &result);
  if (beyond) fail(ExitStatus::bad_input, "an index of more than 64 bits");
  return result;
}

}  // namespace

// ---- indices

Indexed::Place Indexed::place(const Node& index) const {
  const Variable* const known = index.kind == NodeKind::name ? find(index.text) : nullptr;
  if (known != nullptr) return known->label == no_label ? Place{nullptr, known->value} : Place{known, 0};
  const auto is_in = [&](const Variable& v) { return mentions(index, v.name); };
  if (std::none_of(variables_.begin(), variables_.end(), is_in)) return {nullptr, constant_place(index)};
  const ScalarOp op = index.kind == NodeKind::operation ? index.op : ScalarOp::constant;
  if (op == ScalarOp::neg && place(index.args.at(0)).variable == nullptr) {
    return {nullptr,
            located(source_, index.mark, [&] { return result_of(ScalarOp::sub, 0, place(index.args[0]).added); })};
  }
  if (op != ScalarOp::add && op != ScalarOp::sub && op != ScalarOp::mul) {
    source_.fail(index.mark, "an index that is computed from a variable",
                 "an index is a variable, or a variable and a number added to it",
                 "write take(A, k, over N) for places k that are computed");
  }
  const Place a = place(index.args.at(0)), b = place(index.args.at(1));
  const Variable* const variable = a.variable != nullptr ? a.variable : b.variable;
  if (variable != nullptr && op == ScalarOp::mul) {
    source_.fail(index.mark, fmt::format("an index that is a multiple of '{}'", variable->name),
                 "a variable over a slice with a step takes every second index, or third",
                 "let it run over such a slice: dim P = N[::2]");
  }
  if (a.variable != nullptr && b.variable != nullptr) {
    source_.fail(index.mark,
                 fmt::format("an index of two variables, '{}' and '{}'", a.variable->name, b.variable->name),
                 "one of them is that of a sum, or another reduction, over so many indices as are known to plan",
                 "write sum(a in 3: x[i + a]), or give a dimension its size: dim A local = 3");
  }
  if (b.variable != nullptr && op == ScalarOp::sub) {
    source_.fail(index.mark, fmt::format("an index that falls while '{}' rises", variable->name),
                 "an index is a variable, or a variable and a number added to it",
                 "let it run over a slice backwards: dim B = N[::-1]");
  }
  return {variable, located(source_, index.mark, [&] { return result_of(op, a.added, b.added); })};
}

std::int64_t Indexed::constant_place(const Node& index) const {
  const Binding* const bound = index.kind == NodeKind::name ? scopes_.find(index.text) : nullptr;
  const bool value = index.kind == NodeKind::name && (bound == nullptr || !bound->is(Binding::Kind::constant));
  if (value) {
    source_.fail(index.mark, "an index that is no variable of the index notation",
                 "an element stands at the same tuple of indices in all of its arrays",
                 "write at(A, t, over T) for one index of a local dimension");
  }
  return evaluator_.count(index, std::numeric_limits<std::int64_t>::min(), "an index");
}

void Indexed::refuse_place(const Node& index, const Place& at, DimId dim) const {
  const Dimension &own = module_.dim(at.variable->dim), &array = module_.dim(dim);
  const std::string& name = at.variable->name;
  if (at.variable->dim != dim) {
    source_.fail(index.mark,
                 fmt::format("'{}' runs over {}, and the array's dimension is {}", name, own.name, array.name),
                 "a variable is an index of the dimension that it runs over, or of which that is a slice",
                 fmt::format("let it run over {0}, or over a slice of it: dim I = {0}[1:-1]", array.name));
  }
  const std::string part = at.added < 0
                               ? fmt::format("dim I = {}[{}:]", array.name, result_of(ScalarOp::sub, 0, at.added))
                               : fmt::format("dim I = {}[:-{}]", array.name, at.added);
  const std::string all = window(*at.variable, dim);
  source_.fail(index.mark, fmt::format("'{}' runs over all of {}, so this index leaves it", name, array.name),
               fmt::format("the {} has no such neighbour", at.added < 0 ? "first one" : "last one"),
               fmt::format("let it run over a slice: {}, and {} in I", all.empty() ? part : all, name));
}

// ---- elements

std::optional<Term> Indexed::access(const Term& array, const Node& node) {
  if (variables_.empty() || array.dims.empty()) return std::nullopt;
  if (formulas_.is_sparse(array) || formulas_.is_formula(array)) {
    formulas_.fail(array, node.mark, "an element of a sparse matrix", "index notation takes dense arrays",
                   "write a product with the matrix: G @ x");
  }
  const size_t count = node.args.size() - 1;
  if (count != array.dims.size()) {
    source_.fail(node.mark,
                 fmt::format("an element by {} {} of an array over {}", count, count == 1 ? "index" : "indices",
                             show_dims(module_, array.dims)),
                 "it has an index for each dimension");
  }
  std::vector<Place> places;
  for (size_t i = 0; i < count; ++i) places.push_back(placed(node.args[i + 1], array.dims[i]));
  const std::vector<DimId> dims = array.dims;
  Labelled made{values_.materialise(array, "t", node.mark), {}, array.named};
  for (size_t i = 0; i < count; ++i) {
    const Variable* const variable = places[i].variable;
    if (variable != nullptr) made.labels += variable->label;
    if (variable != nullptr && variable->dim == dims[i]) continue;
    const DimId slice = variable == nullptr ? no_dim : variable->dim;
    made.array = seen({made.array, dims[i], slice, places[i].added}, node.args[i + 1]);
    made.named = false;
  }
  if (made.labels.empty()) return values_.term(made.array);
  return element(std::move(made));
}

// The index of an array's dimension.
Indexed::Place Indexed::placed(const Node& index, DimId dim) const {
  const Place at = place(index);
  if (at.variable == nullptr) return at;
  const bool plain = at.variable->dim == dim && at.added == 0;
  if (!plain && !is_part(module_, at.variable->dim, dim)) refuse_place(index, at, dim);
  return at;
}

// Where a slice begins that element-wise work reads in place, as a range: of a local dimension of a known size.
std::optional<std::int64_t> Indexed::view_begin(const Seen& part) const {
  if (part.slice == no_dim) return std::nullopt;
  const Dimension &whole = module_.dim(part.dim), &own = module_.dim(part.slice);
  if (!whole.local || !own.local || whole.size < 0 || own.size <= 0) return std::nullopt;
  const SizeOf size_of = [&](DimId dim) { return module_.dim(dim).size; };
  const bool outside = !outside_fault(module_, part.slice, part.dim, part.at, size_of).what.empty();
  const std::vector<DimId>& dims = module_.type(part.array).dims;
  if (outside || stands_twice(dims) || contains(dims, part.slice)) return std::nullopt;
  Op slice{.code = OpCode::slice, .over = {part.dim}, .dim = part.slice};
  displace(slice, part.at);
  const SlicedIndices indices = sliced_by(module_, slice);
  return indices.step == 1 ? std::optional(indices.first) : std::nullopt;
}

// Each part is made once.
ValueId Indexed::seen(const Seen& part, const Node& index) {
  const auto [it, fresh] = parts_.try_emplace(part, no_value);
  if (fresh) it->second = made_part(part, index.mark);
  return it->second;
}

// Of a variable over a slice, with the slice that suits all indices of the statement.
void Indexed::refuse_outside(const Seen& part, Mark mark) const {
  const SizeOf size_of = [&](DimId dim) { return module_.dim(dim).size; };
  const OutsideFault outside = outside_fault(module_, part.slice, part.dim, part.at, size_of);
  if (outside.what.empty()) return;
  const auto runs = std::find_if(variables_.begin(), variables_.end(),
                                 [&](const Variable& v) { return v.label != no_label && v.dim == part.slice; });
  const std::string all = runs == variables_.end() ? "" : window(*runs, part.dim);
  source_.fail(mark, outside.what, outside.why,
               all.empty() ? outside.remedy : fmt::format("take a narrower one, for all indices here: {}", all));
}

ValueId Indexed::made_part(const Seen& part, Mark mark) {
  if (part.slice == no_dim) return one_of(part.array, part.dim, part.at, mark);
  const std::optional<std::int64_t> begin = view_begin(part);
  if (!begin) refuse_outside(part, mark);
  if (!begin) return sliced(part.array, part.slice, part.dim, part.at, mark, "t");
  const ValueId from = values_.constant(literal_term(Scalar::i64, Word::integer(*begin)), "begin", mark);
  return emit_range(builder_, part.array, part.slice, part.dim, from, mark, "t");
}

// As at(A, 3, over T).
ValueId Indexed::one_of(ValueId array, DimId dim, std::int64_t index, Mark mark) {
  const std::vector<DimId>& dims = module_.type(array).dims;
  const Dimension& own = module_.dim(dim);
  if (!own.local) {
    source_.fail(mark, fmt::format("an index of '{}', which is cut", own.name),
                 "every worker holds all of a local dimension, but only its part of others",
                 fmt::format("declare it local: dim {} local", own.name));
  }
  if (stands_twice(dims)) {
    source_.fail(mark, fmt::format("an index of an array over {}", show_dims(module_, dims)),
                 "it has two dimensions of one name", "use another dimension of the same size");
  }
  const RangeSizes sizes{own.name, own.size, 1, true};
  const std::string fault = range_fault(sizes, index);
  if (!fault.empty()) source_.fail(mark, outside_text(sizes), fault, outside_remedy(sizes));
  const ValueId at = values_.constant(literal_term(Scalar::i64, Word::integer(index)), "index", mark);
  return emit_at(builder_, array, dim, at, mark, "t");
}

}  // namespace kasen::lang
