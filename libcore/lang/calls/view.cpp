#include "libcore/lang/calls/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/products.h"

namespace kasen::lang {

Views::Views(const Part& part, Contractions& contractions) : Part(part), contractions_(contractions) {
  using Name = Functions::Name;
  functions_.add({"range"}, Name::yields, [this](auto& node, auto& hint) { return slice_range(node, hint); });
  functions_.add({"at"}, Name::yields, [this](auto& node, auto& hint) { return slice_index(node, hint); });
}

// The dimension of which some indices are taken: the named one, or the only local one of the array. `view` says what
// they make ("a range"), and `call` has its text up to the dimension's name.
DimId Views::sliced_dim(const Term& array, const std::string& view, const std::string& call, const Node* over,
                        Mark mark) const {
  const std::vector<DimId>& dims = array.dims;
  std::vector<DimId> local;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(local), [&](DimId d) { return module_.dim(d).local; });
  if (over != nullptr && over->names.size() == 1) {
    const DimId d = types_.dim(over->names[0]);
    if (!contains(dims, d)) {
      source_.fail(over->names[0].mark, fmt::format("the array has no dimension '{}'", module_.dim(d).name),
                   fmt::format("it is over {}", show_dims(module_, dims)));
    }
    local = {d};
  }
  if (local.size() != 1) {
    source_.fail(mark, fmt::format("{} of an array over {}", view, show_dims(module_, dims)),
                 local.empty() ? "none of its dimensions is local, and others are cut over the workers"
                               : "it has several local dimensions",
                 local.empty() ? "" : fmt::format("name one: {}, over {})", call, module_.dim(local[0]).name));
  }
  require_local(local[0], view, mark);
  return local[0];
}

void Views::require_local(DimId dim, const std::string& view, Mark mark) const {
  if (module_.dim(dim).local) return;
  source_.fail(mark, fmt::format("{} of '{}', which is cut", view, module_.dim(dim).name),
               "every worker holds all of a local dimension, but only its part of others",
               fmt::format("declare it local: dim {} local", module_.dim(dim).name));
}

// If plan knows the begin of a view, it must lie inside the known size of the array.
void Views::require_inside(const RangeSizes& sizes, ValueId begin, Mark mark) const {
  const Op* last = builder_.last();
  const bool known = last != nullptr && last->code == OpCode::literal && last->results[0] == begin;
  const std::string fault = range_fault(sizes, known ? last->literal[0].i : 0);
  if (!fault.empty()) source_.fail(mark, outside_text(sizes), fault, outside_remedy(sizes));
}

// A vector has no rows and columns to exchange, and products take it unchanged.
void Views::refuse_transpose(const std::vector<DimId>& dims, Mark mark) const {
  source_.fail(mark, "the transpose of an array that is no matrix",
               fmt::format("it is over {}", show_dims(module_, dims)),
               dims.size() == 1 ? "leave out ' or .T: G @ x, x @ G and dot(x, y) take a vector as it is" : "");
}

Term Views::transposed(Term matrix, Mark mark, const std::string& hint) {
  const std::vector<DimId> dims = matrix.dims;
  if (dims.size() != 2) refuse_transpose(dims, mark);
  const ValueId operand = values_.materialise(std::move(matrix), "t", mark);
  const Contractions::Dims labels{{'i', dims[0]}, {'j', dims[1]}};
  return values_.term(contractions_.arranged({operand, "ij"}, "ji", labels, mark, hint).array);
}

// range(A, K), range(A, K, begin), range(A, K, begin, over F): the indices begin, ..., begin + size(K) - 1 of A's
// dimension F. They become those of K.
Term Views::slice_range(const Node& node, const std::string& hint) {
  const bool last = !node.args.empty() && node.args.back().kind == NodeKind::over;
  const Node* over = last ? &node.args.back() : nullptr;
  const size_t count = node.args.size() - (last ? 1 : 0);
  if (count < 2 || count > 3) {
    source_.fail(node.mark, fmt::format("range of {} arguments", count),
                 "it takes an array, the dimension that its indices become, and its begin",
                 "write range(A, K), range(A, K, 2), or range(A, K, 2, over F)");
  }
  Term array = evaluator_.element(node.args[0]);
  values_.require_array(array, node.args[0].mark, "a range");
  const DimId part = types_.dim(node.args[1]);
  const std::string& name = module_.dim(part).name;
  const DimId whole = sliced_dim(array, "a range", fmt::format("range(A, {}, 0", name), over, node.mark);
  require_local(part, "a range", node.mark);
  const std::vector<DimId>& dims = array.dims;
  if (std::count(dims.begin(), dims.end(), whole) > 1 || std::count(dims.begin(), dims.end(), part) > 0) {
    source_.fail(node.mark, fmt::format("the range '{}' of an array over {}", name, show_dims(module_, dims)),
                 "arrays meet by the names of their dimensions", "use another dimension of the same size");
  }
  const ValueId operand = values_.materialise(std::move(array), "t", node.mark);
  const ValueId from = count == 3
                           ? evaluator_.shared(node.args[2], Scalar::i64, "begin", "the beginning of a range", whole)
                           : values_.constant(literal_term(Scalar::i64, Word::integer(0)), "begin", node.mark);
  require_inside({module_.dim(whole).name, module_.dim(whole).size, module_.dim(part).size}, from, node.mark);
  return values_.term(emit_range(builder_, operand, part, whole, from, node.mark, hint));
}

ValueId emit_range(Builder& builder, ValueId array, DimId part, DimId whole, ValueId begin, Mark mark,
                   const std::string& hint) {
  Type type = builder.module().type(array);
  std::replace(type.dims.begin(), type.dims.end(), whole, part);
  return builder.emit({.code = OpCode::range, .operands = {array, begin}, .over = {whole}, .dim = part}, mark, hint,
                      type);
}

// at(A, i), at(A, i, over F): A at index i of its dimension F; the result lacks F.
Term Views::slice_index(const Node& node, const std::string& hint) {
  const Node* over = over_argument(node, 2);
  if (node.args.size() != 2 && over == nullptr) {
    source_.fail(node.mark, fmt::format("at of {} arguments", node.args.size()),
                 "it takes an array and an index of one of its dimensions", "write at(A, i), or at(A, i, over F)");
  }
  Term array = evaluator_.any(node.args[0]);
  if (array.bare() && array.leaves[0] >= 0 && has_batches(module_.type(array.leaves[0]))) {
    return batch(array.leaves[0], node, over, hint);
  }
  array = evaluator_.require_element(std::move(array), node.args[0]);
  values_.require_array(array, node.args[0].mark, "an index");
  const DimId whole = sliced_dim(array, "an index", "at(A, i", over, node.mark);
  const std::vector<DimId>& dims = array.dims;
  if (std::any_of(dims.begin(), dims.end(), [&](DimId d) { return std::count(dims.begin(), dims.end(), d) > 1; })) {
    source_.fail(node.mark, fmt::format("an index of an array over {}", show_dims(module_, dims)),
                 "it has two dimensions of one name", "use another dimension of the same size");
  }
  const ValueId operand = values_.materialise(std::move(array), "t", node.mark);
  const ValueId index = evaluator_.shared(node.args[1], Scalar::i64, "index", "the index of a dimension", whole);
  require_inside({module_.dim(whole).name, module_.dim(whole).size, 1, true}, index, node.mark);
  return values_.term(emit_at(builder_, operand, whole, index, node.mark, hint));
}

// at(X, t), at(X, t, over T): a batch of a sparse input over [T, N, M].
Term Views::batch(ValueId input, const Node& node, const Node* over, const std::string& hint) {
  const Type& type = module_.type(input);
  const DimId dim = over == nullptr || over->names.size() != 1 ? type.dims[0] : types_.dim(over->names[0]);
  if (dim != type.dims[0]) {
    source_.fail(over->names[0].mark, fmt::format("an index of '{}' of a sparse matrix", module_.dim(dim).name),
                 fmt::format("its batches are counted by '{}', and each is a matrix", module_.dim(type.dims[0]).name),
                 fmt::format("write at(X, t, over {})", module_.dim(type.dims[0]).name));
  }
  const ValueId index = evaluator_.shared(node.args[1], Scalar::i64, "index", "the index of a batch", dim);
  require_inside({module_.dim(dim).name, module_.dim(dim).size, 1, true}, index, node.mark);
  Type made = module_.type(input);
  made.dims.erase(made.dims.begin());
  return values_.term(builder_.emit({.code = OpCode::batch, .operands = {input, index}, .over = {dim}}, node.mark, hint,
                                    std::move(made)));
}

ValueId emit_at(Builder& builder, ValueId array, DimId dim, ValueId index, Mark mark, const std::string& hint) {
  Type type = builder.module().type(array);
  std::erase(type.dims, dim);
  return builder.emit({.code = OpCode::at, .operands = {array, index}, .over = {dim}}, mark, hint, type);
}

}  // namespace kasen::lang
