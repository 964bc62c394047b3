// Checks operators of linear algebra: matrices of local dimensions, f64 or f32 throughout, of shapes that fit, one or
// one for each index of other dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "libcore/ir/axis_ops.h"
#include "libcore/verify/rules.h"

namespace kasen {

void verify_linear(const Module& module, const Op& op, Faults& faults) {
  const auto type = [&](ValueId v) -> const Type& { return module.type(v); };
  const Type& matrix = type(op.operands[0]);
  if (matrix.dims.size() < 2) return faults.add(op, value_text(module, op.operands[0]) + " is no matrix");
  const auto behind = static_cast<std::ptrdiff_t>(batch_rank(module, op));
  const std::vector<DimId> batch(matrix.dims.begin(), matrix.dims.begin() + behind);
  std::vector<ValueId> all = op.operands;
  all.insert(all.end(), op.results.begin(), op.results.end());
  for (const ValueId v : all) {
    const Type& t = type(v);
    const bool real = (t.element.is(Scalar::f64) || t.element.is(Scalar::f32)) && t.element == matrix.element;
    if (!real || t.compressed) {
      return faults.add(op, fmt::format("{} is {}", value_text(module, v), type_text(module, t)),
                        "linear algebra works on arrays of f64, or of f32");
    }
    if (t.dims.size() < batch.size() || !std::equal(batch.begin(), batch.end(), t.dims.begin())) {
      return faults.add(op, value_text(module, v) + " is not over the dimensions before those of the matrices");
    }
    for (auto at = t.dims.begin() + behind; at != t.dims.end(); ++at) {
      const DimId d = *at;
      if (module.dim(d).local) continue;
      return faults.add(op, fmt::format("{} is over '{}', which is cut", value_text(module, v), module.dim(d).name),
                        "one worker works on the whole array", "declare the dimension local");
    }
  }
  const DimId rows = matrix.dims[batch.size()], cols = matrix.dims[batch.size() + 1];
  const bool tall = op.code == OpCode::qr || op.code == OpCode::svd;
  if (!tall && rows != cols) {
    return faults.add(op, value_text(module, op.operands[0]) + " is not square", "its dimensions are two");
  }
  using Dims = std::vector<DimId>;
  const auto with = [&](Dims dims) {
    dims.insert(dims.begin(), batch.begin(), batch.end());
    return dims;
  };
  std::vector<Dims> wanted{matrix.dims};
  if (op.code == OpCode::solve) wanted = {type(op.operands[1]).dims};
  if (op.code == OpCode::eigh) wanted = {with({rows}), matrix.dims};
  if (op.code == OpCode::qr) wanted = {matrix.dims, with({cols, cols})};
  if (op.code == OpCode::svd) wanted = {matrix.dims, with({cols}), with({cols, cols})};
  if (op.code == OpCode::solve && (wanted[0].size() == batch.size() || wanted[0][batch.size()] != rows)) {
    return faults.add(op, value_text(module, op.operands[1]) + " is not over the matrix's dimension");
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (type(op.results[i]).dims == wanted[i]) continue;
    return faults.add(op, value_text(module, op.results[i]) + " has other dimensions than the operator gives");
  }
}

}  // namespace kasen
