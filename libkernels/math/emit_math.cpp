#include "libkernels/math/emit_math.h"

#include <algorithm>
#include <array>
#include <vector>

#include "libkernels/math/functions.h"

namespace kasen {
namespace {

struct FunctionRow {
  ScalarOp op;
  Real (*code)(Real);
};

// A row of elementary.def without its emit_NAME does not compile; instructions of processors have none.
constexpr std::array functions{
#define ELEMENTARY(name, work, library, numeric, wide, shape, doc) \
  FunctionRow{ScalarOp::name, *(library) == '\0' ? nullptr : emit_##name},
#include "libcore/scalar/elementary.def"
#undef ELEMENTARY
};

const FunctionRow* row_of(ScalarOp op) {
  const auto* const found = std::find_if(functions.begin(), functions.end(),
                                         [&](const FunctionRow& r) { return r.op == op && r.code != nullptr; });
  return found == functions.end() ? nullptr : found;
}

}  // namespace

bool emits_math(ScalarOp op, const ElementType& operand) {
  const bool real = operand == ElementType::of(Scalar::f64) || operand == ElementType::of(Scalar::f32);
  return real && (op == ScalarOp::pow || row_of(op) != nullptr);
}

llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, std::span<llvm::Value* const> args, const Target& target) {
  llvm::Type* const given = args[0]->getType();
  llvm::Type* const number = given->getWithNewType(b.getDoubleTy());
  const Reals reals(b, number, target);
  std::vector<Real> x;
  for (llvm::Value* arg : args) x.push_back(reals.take(b.CreateFPCast(arg, number)));
  const Real result = op == ScalarOp::pow ? emit_pow(x[0], x[1]) : row_of(op)->code(x[0]);
  return b.CreateFPCast(result.value, given);
}

}  // namespace kasen
