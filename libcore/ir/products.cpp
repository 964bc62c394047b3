#include "libcore/ir/products.h"

#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

bool is_plain(const ScalarFunction& fn, ScalarOp op, Scalar scalar) {
  return is_plain_operator(fn, op) && fn.body.type.is(scalar);
}

}  // namespace

bool is_plain_operator(const ScalarFunction& fn, ScalarOp op) {
  if (fn.params.size() != 2 || fn.body.op != op) return false;
  return fn.body.args[0].op == ScalarOp::param && fn.body.args[1].op == ScalarOp::param &&
         fn.body.args[0].index != fn.body.args[1].index;
}

bool has_whole_lines(const Module& module, const Type& matrix) {
  const std::span<const DimId> dims = matrix_dims(matrix);
  return matrix.sparse && std::any_of(dims.begin(), dims.end(), [&](DimId d) { return module.dim(d).local; });
}

SparseSource sparse_source(const Module& module, ValueId matrix) {
  const auto makes = [](const Op& op, ValueId v) { return !op.results.empty() && op.results[0] == v; };
  SparseSource source;
  const std::vector<Op>& ops = module.body.ops;
  const auto find = [&](ValueId v) {
    const auto at =
        std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return op.code == OpCode::input && makes(op, v); });
    source.input = at == ops.end() ? nullptr : &*at;
  };
  find(matrix);
  if (source.input != nullptr) return source;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::batch && makes(op, matrix)) source.batch = &op;
  });
  if (source.batch != nullptr) find(source.batch->operands.at(0));
  return source;
}

bool is_sparse_product(const Module& module, const Op& op) {
  return is_product(op) && module.type(product_matrix(op)).sparse;
}

bool is_dense_product(const Module& module, const Op& op) {
  return is_product(op) && !module.type(product_matrix(op)).sparse;
}

ValueId product_matrix(const Op& op) {
  if (op.code != OpCode::region) return op.operands.at(is_fold(op) ? 0 : 1);
  const std::vector<Op>& ops = op.blocks.at(0).ops;
  const auto product = std::find_if(ops.begin(), ops.end(), [](const Op& o) { return is_product(o) || is_fold(o); });
  if (product == ops.end()) throw InternalError("a region of products without one");
  return product_matrix(*product);
}

std::int64_t product_columns(const Module& module, const Op& op) {
  std::int64_t columns = 1;
  const std::vector<DimId>& dims = module.type(op.operands.at(0)).dims;
  for (size_t i = 1; i < dims.size(); ++i) {
    columns = checked_mul(columns, std::max<std::int64_t>(module.dim(dims[i]).size, 0), "a product's columns");
  }
  return columns;
}

bool is_ordinary_dense_product(const Module& module, const Op& op) {
  return is_dense_product(module, op) && multiplies_and_adds(module, op);
}

bool multiplies_and_adds(const Module& module, const Op& op) {
  const ElementType& element = module.type(op.operands.at(1)).element;
  if (!element.is_scalar() || !is_float(element.scalar())) return false;
  return element == module.type(op.operands.at(0)).element &&
         is_plain(module.fn(op.fns.at(0)), ScalarOp::mul, element.scalar()) &&
         is_plain(module.fn(op.fns.at(1)), ScalarOp::add, element.scalar());
}

bool shares_dense_pass(const Module& module, const Op& op) {
  if (!is_ordinary_dense_product(module, op) || has_columns(module, op)) return false;
  const Type& matrix = module.type(op.operands.at(1));
  return matrix.dims.size() == 2 && Layout(module, matrix).is_cut(0);
}

}  // namespace kasen
