// Checks operators of linear algebra: whole arrays of local dimensions, f64 or f32 throughout, of shapes that fit.
#include <fmt/format.h>

#include <vector>

#include "libcore/verify/rules.h"

namespace kasen {

void verify_linear(const Module& module, const Op& op, Faults& faults) {
  const auto type = [&](ValueId v) -> const Type& { return module.type(v); };
  const Type& matrix = type(op.operands[0]);
  std::vector<ValueId> all = op.operands;
  all.insert(all.end(), op.results.begin(), op.results.end());
  for (const ValueId v : all) {
    const Type& t = type(v);
    const bool real = (t.element.is(Scalar::f64) || t.element.is(Scalar::f32)) && t.element == matrix.element;
    if (!real || t.compressed) {
      return faults.add(op, fmt::format("{} is {}", value_text(module, v), type_text(module, t)),
                        "linear algebra works on arrays of f64, or of f32");
    }
    for (const DimId d : t.dims) {
      if (module.dim(d).local) continue;
      return faults.add(op, fmt::format("{} is over '{}', which is cut", value_text(module, v), module.dim(d).name),
                        "one worker works on the whole array", "declare the dimension local");
    }
  }
  if (matrix.dims.size() != 2) return faults.add(op, value_text(module, op.operands[0]) + " is no matrix");
  const DimId rows = matrix.dims[0], cols = matrix.dims[1];
  const bool tall = op.code == OpCode::qr || op.code == OpCode::svd;
  if (!tall && rows != cols) {
    return faults.add(op, value_text(module, op.operands[0]) + " is not square", "its dimensions are two");
  }
  using Dims = std::vector<DimId>;
  std::vector<Dims> wanted{matrix.dims};
  if (op.code == OpCode::solve) wanted = {type(op.operands[1]).dims};
  if (op.code == OpCode::eigh) wanted = {Dims{rows}, matrix.dims};
  if (op.code == OpCode::qr) wanted = {matrix.dims, Dims{cols, cols}};
  if (op.code == OpCode::svd) wanted = {matrix.dims, Dims{cols}, Dims{cols, cols}};
  if (op.code == OpCode::solve && (wanted[0].empty() || wanted[0][0] != rows)) {
    return faults.add(op, value_text(module, op.operands[1]) + " is not over the matrix's dimension");
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (type(op.results[i]).dims == wanted[i]) continue;
    return faults.add(op, value_text(module, op.results[i]) + " has other dimensions than the operator gives");
  }
}

}  // namespace kasen
