// Views: ranges of a dimension, and transposed matrices.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/array_views.h"
#include "libcore/lang_lower.h"

namespace kasen::lang {

// The dimension of the array that is cut down: the one that is named, or its only local one.
DimId Lowering::ranged_dim(const Term& array, DimId part, const Node* over, Mark mark) {
  const std::vector<DimId>& dims = array.dims;
  const std::string& name = module_.dim(part).name;
  std::vector<DimId> local;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(local), [&](DimId d) { return module_.dim(d).local; });
  if (over != nullptr && over->names.size() == 1) {
    const DimId d = dim_named(over->names[0]);
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
      source_.fail(over->names[0].mark, fmt::format("the array has no dimension '{}'", module_.dim(d).name),
                   fmt::format("it is over {}", show_dims(module_, dims)));
    }
    local = {d};
  }
  if (local.size() != 1) {
    source_.fail(
        mark, fmt::format("a range of an array over {}", show_dims(module_, dims)),
        local.empty() ? "none of its dimensions is local, and others are cut over the workers"
                      : "it has several local dimensions",
        local.empty() ? "" : fmt::format("name one: range(A, {}, 0, over {})", name, module_.dim(local[0]).name));
  }
  for (const DimId d : {local[0], part}) {
    if (module_.dim(d).local) continue;
    source_.fail(mark, fmt::format("a range of '{}', which is cut", module_.dim(d).name),
                 "every worker holds a local dimension whole, and of others its part",
                 fmt::format("declare it local: dim {} local", module_.dim(d).name));
  }
  if (std::count(dims.begin(), dims.end(), local[0]) > 1 || std::count(dims.begin(), dims.end(), part) > 0) {
    source_.fail(mark, fmt::format("the range '{}' of an array over {}", name, show_dims(module_, dims)),
                 "arrays meet by the names of their dimensions", "use another dimension of the same size");
  }
  return local[0];
}

// A' as a value: an array of its own, unless a product reads A the other way.
Term Lowering::transposed(Term matrix, Mark mark, const std::string& hint) {
  const std::vector<DimId> dims = matrix.dims;
  if (dims.size() != 2) {
    source_.fail(mark, "' of what is no matrix", fmt::format("it is over {}", show_dims(module_, dims)));
  }
  if (is_sparse(matrix)) {
    source_.fail(mark, "a transposed sparse matrix outside a product", "sparse matrices take part in products alone",
                 "' belongs to the matrix of a product: G' @ x");
  }
  if (!module_.dim(dims[0]).local && !module_.dim(dims[1]).local) {
    source_.fail(mark, fmt::format("a transposed matrix over {} outside a product", show_dims(module_, dims)),
                 "it is cut along its first dimension, and would be along the other: every element would have to move",
                 fmt::format("declare one of them local: dim {} local", module_.dim(dims[1]).name));
  }
  const ValueId operand = materialise(std::move(matrix), "t", mark);
  Type type = module_.type(operand);
  std::reverse(type.dims.begin(), type.dims.end());
  const ValueId result = emit(OpCode::transpose, mark, hint, type, [&](Op& op) { op.operands = {operand}; });
  return value_term(result, false);
}

// range(A, K), range(A, K, begin), range(A, K, begin, over F): the indices begin, ..., begin + size(K) - 1 of A's
// dimension F, which are those of K then.
Term Lowering::range_call(const Node& node, const std::string& hint) {
  const bool over = !node.args.empty() && node.args.back().kind == NodeKind::over;
  const size_t count = node.args.size() - (over ? 1 : 0);
  if (count < 2 || count > 3) {
    source_.fail(node.mark, fmt::format("range of {} arguments", count),
                 "it takes an array, the dimension that its indices become, and where it begins",
                 "write range(A, K), range(A, K, 2), or range(A, K, 2, over F)");
  }
  Term array = element(node.args[0]);
  require_array(array, node.args[0].mark, "a range");
  const DimId part = dim_argument(node.args[1]);
  const DimId whole = ranged_dim(array, part, over ? &node.args.back() : nullptr, node.mark);
  const ValueId operand = materialise(std::move(array), "t", node.mark);
  const ValueId from = count == 3 ? shared(node.args[2], Scalar::i64, "begin", "where a range begins")
                                  : constant_value(literal_term(Scalar::i64, Word::integer(0)), "begin", node.mark);
  const Op* last = block_->ops.empty() ? nullptr : &block_->ops.back();
  const bool known = last != nullptr && last->code == OpCode::literal && last->results[0] == from;
  const RangeSizes sizes{module_.dim(whole).name, module_.dim(whole).size, module_.dim(part).size};
  const std::string fault = range_fault(sizes, known ? last->literal[0].i : 0);
  if (!fault.empty())
    source_.fail(node.mark, "a range does not lie inside of its array", fault,
                 "begin at another index, or give the dimensions other sizes");
  Type type = module_.type(operand);
  std::replace(type.dims.begin(), type.dims.end(), whole, part);
  const ValueId result = emit(OpCode::range, node.mark, hint, type, [&](Op& op) {
    op.operands = {operand, from};
    op.over = {whole};
    op.dim = part;
  });
  return value_term(result, false);
}

}  // namespace kasen::lang
