// One row for each plain scalar operator: its code on integers and on floating-point numbers. The reference is
// libcore/scalar/scalar_operators.cpp.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/kernels/kernel_set.h"
#include "libkernels/emit/emit.h"
#include "libkernels/math/emit_math.h"

namespace kasen {
namespace {

using LlvmValue = llvm::Value;  // not the Value of libcore/ir/module.h
using Builder = llvm::IRBuilder<>;
using Emit = LlvmValue* (*)(Builder& b, LlvmValue* x, LlvmValue* y);  // y: null if there is one operand

LlvmValue* number(LlvmValue* like, std::int64_t v) {
  return llvm::ConstantInt::get(like->getType(), static_cast<std::uint64_t>(v), true);
}

LlvmValue* lowest(LlvmValue* like) {
  return llvm::ConstantInt::get(like->getType(),
                                llvm::APInt::getSignedMinValue(like->getType()->getScalarSizeInBits()));
}
LlvmValue* highest(LlvmValue* like) {
  return llvm::ConstantInt::get(like->getType(),
                                llvm::APInt::getSignedMaxValue(like->getType()->getScalarSizeInBits()));
}

// The extremes of integers stand for infinities; the sum of opposite ones is the smallest number.
LlvmValue* sum(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* high = b.CreateOr(b.CreateICmpEQ(x, highest(x)), b.CreateICmpEQ(y, highest(y)));
  LlvmValue* low = b.CreateOr(b.CreateICmpEQ(x, lowest(x)), b.CreateICmpEQ(y, lowest(y)));
  return b.CreateSelect(low, lowest(x), b.CreateSelect(high, highest(x), b.CreateAdd(x, y)));
}

LlvmValue* difference(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* high = b.CreateOr(b.CreateICmpEQ(x, highest(x)), b.CreateICmpEQ(y, lowest(y)));
  LlvmValue* low = b.CreateOr(b.CreateICmpEQ(x, lowest(x)), b.CreateICmpEQ(y, highest(y)));
  return b.CreateSelect(low, lowest(x), b.CreateSelect(high, highest(x), b.CreateSub(x, y)));
}

LlvmValue* is_extreme(Builder& b, LlvmValue* x) {
  return b.CreateOr(b.CreateICmpEQ(x, highest(x)), b.CreateICmpEQ(x, lowest(x)));
}

LlvmValue* product(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* infinite = b.CreateOr(is_extreme(b, x), is_extreme(b, y));
  LlvmValue* negative = b.CreateICmpSLT(b.CreateXor(x, y), number(x, 0));
  LlvmValue* result = b.CreateSelect(infinite, b.CreateSelect(negative, lowest(x), highest(x)), b.CreateMul(x, y));
  LlvmValue* zero = b.CreateOr(b.CreateICmpEQ(x, number(x, 0)), b.CreateICmpEQ(y, number(y, 0)));
  return b.CreateSelect(zero, number(x, 0), result);
}

LlvmValue* negative(Builder& b, LlvmValue* x) {
  LlvmValue* result = b.CreateSelect(b.CreateICmpEQ(x, highest(x)), lowest(x), b.CreateNeg(x));
  return b.CreateSelect(b.CreateICmpEQ(x, lowest(x)), highest(x), result);
}

// Rounds down; a division by zero gives 0, by -1 the (wrapping) negation: the machine's division, which traps, sees
// neither.
LlvmValue* floor_quotient(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* by_zero = b.CreateICmpEQ(y, number(y, 0));
  LlvmValue* by_minus = b.CreateICmpEQ(y, number(y, -1));
  LlvmValue* divisor = b.CreateSelect(b.CreateOr(by_zero, by_minus), number(y, 1), y);
  LlvmValue* quotient = b.CreateSDiv(x, divisor);
  LlvmValue* rest = b.CreateSub(x, b.CreateMul(quotient, divisor));
  LlvmValue* signs = b.CreateICmpSLT(b.CreateXor(x, divisor), number(x, 0));
  LlvmValue* down = b.CreateAnd(signs, b.CreateICmpNE(rest, number(x, 0)));
  quotient = b.CreateSelect(down, b.CreateSub(quotient, number(x, 1)), quotient);
  quotient = b.CreateSelect(by_minus, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, number(x, 0), quotient);
}

LlvmValue* floor_rest(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* rest = b.CreateSub(x, b.CreateMul(y, floor_quotient(b, x, y)));
  return b.CreateSelect(b.CreateICmpEQ(y, number(y, 0)), number(x, 0), rest);
}

// Equal operands differ at most in the sign of zero: the minimum has it if either has, the maximum if both have.
LlvmValue* extremum(Builder& b, LlvmValue* x, LlvmValue* y, bool smaller) {
  llvm::Type* real = x->getType();
  llvm::Type* bits = llvm::IntegerType::get(b.getContext(), real->getScalarSizeInBits());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(real)) {
    bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
  }
  LlvmValue* xb = b.CreateBitCast(x, bits);
  LlvmValue* yb = b.CreateBitCast(y, bits);
  LlvmValue* equal = b.CreateBitCast(smaller ? b.CreateOr(xb, yb) : b.CreateAnd(xb, yb), real);
  LlvmValue* first = smaller ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOGT(x, y);
  LlvmValue* result = b.CreateSelect(first, x, y);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, y), equal, result);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), llvm::ConstantFP::getNaN(real), result);
}

LlvmValue* unary(Builder& b, llvm::Intrinsic::ID id, LlvmValue* x) { return b.CreateUnaryIntrinsic(id, x); }
LlvmValue* floor_of(Builder& b, LlvmValue* x) { return unary(b, llvm::Intrinsic::floor, x); }

// SplitMix64, as in libcore/scalar/scalar_operators.cpp.
LlvmValue* bits_mix64(Builder& b, LlvmValue* x, LlvmValue* y) {
  const auto constant = [&](std::uint64_t v) { return number(x, static_cast<std::int64_t>(v)); };
  const auto folded = [&](LlvmValue* z, int by) { return b.CreateXor(z, b.CreateLShr(z, number(z, by))); };
  LlvmValue* z = b.CreateAdd(x, b.CreateMul(b.CreateAdd(y, number(y, 1)), constant(0x9E3779B97F4A7C15U)));
  z = b.CreateMul(folded(z, 30), constant(0xBF58476D1CE4E5B9U));
  z = b.CreateMul(folded(z, 27), constant(0x94D049BB133111EBU));
  return folded(z, 31);
}

LlvmValue* bits_bit_and(Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateAnd(x, y); }
LlvmValue* bits_bit_or(Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateOr(x, y); }
LlvmValue* bits_bit_xor(Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateXor(x, y); }
LlvmValue* bits_bit_not(Builder& b, LlvmValue* x, LlvmValue*) { return b.CreateNot(x); }

LlvmValue* bits_bit_count(Builder& b, LlvmValue* x, LlvmValue*) {
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
}
LlvmValue* bits_leading_zeros(Builder& b, LlvmValue* x, LlvmValue*) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
}
LlvmValue* bits_trailing_zeros(Builder& b, LlvmValue* x, LlvmValue*) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, b.getFalse());
}

// LLVM gives poison where a shift is not from 0 to 63.
LlvmValue* bits_shift_left(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* fits = b.CreateICmpULT(y, number(y, 64));
  return b.CreateSelect(fits, b.CreateShl(x, b.CreateAnd(y, number(y, 63))), number(x, 0));
}
LlvmValue* bits_shift_right(Builder& b, LlvmValue* x, LlvmValue* y) {
  LlvmValue* fits = b.CreateICmpULT(y, number(y, 64));
  return b.CreateAShr(x, b.CreateSelect(fits, y, number(y, 63)));
}

struct OperatorRow {
  ScalarOp op;
  Emit integer, real;  // null: there is none
};

// clang-format off
constexpr std::array operators{
  //           op                     integers and bools                                                                  floating-point numbers
  OperatorRow{ScalarOp::add,         sum,                                                                                                [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFAdd(x, y); }},
  OperatorRow{ScalarOp::sub,         difference,                                                                                         [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFSub(x, y); }},
  OperatorRow{ScalarOp::mul,         product,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFMul(x, y); }},
  OperatorRow{ScalarOp::div,         nullptr,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFDiv(x, y); }},
  OperatorRow{ScalarOp::floor_div,   floor_quotient,                                                                                     [](Builder& b, LlvmValue* x, LlvmValue* y) { return floor_of(b, b.CreateFDiv(x, y)); }},
  OperatorRow{ScalarOp::mod,         floor_rest,                                                                                         [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFSub(x, b.CreateFMul(y, floor_of(b, b.CreateFDiv(x, y)))); }},
  OperatorRow{ScalarOp::fmod,        nullptr,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFRem(x, y); }},
  OperatorRow{ScalarOp::neg,         [](Builder& b, LlvmValue* x, LlvmValue*) { return negative(b, x); },                                [](Builder& b, LlvmValue* x, LlvmValue*) { return b.CreateFNeg(x); }},
  OperatorRow{ScalarOp::min,         [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); }, [](Builder& b, LlvmValue* x, LlvmValue* y) { return extremum(b, x, y, true); }},
  OperatorRow{ScalarOp::max,         [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateSelect(b.CreateICmpSGT(x, y), x, y); }, [](Builder& b, LlvmValue* x, LlvmValue* y) { return extremum(b, x, y, false); }},
  OperatorRow{ScalarOp::abs,         [](Builder& b, LlvmValue* x, LlvmValue*) { return b.CreateSelect(b.CreateICmpSLT(x, number(x, 0)), negative(b, x), x); },[](Builder& b, LlvmValue* x, LlvmValue*) { return unary(b, llvm::Intrinsic::fabs, x); }},
  OperatorRow{ScalarOp::sqrt,        nullptr,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue*) { return unary(b, llvm::Intrinsic::sqrt, x); }},
  OperatorRow{ScalarOp::floor,       nullptr,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue*) { return floor_of(b, x); }},
  OperatorRow{ScalarOp::ceil,        nullptr,                                                                                            [](Builder& b, LlvmValue* x, LlvmValue*) { return unary(b, llvm::Intrinsic::ceil, x); }},
#define BITS(name, arity, work, numeric, doc) OperatorRow{ScalarOp::name, bits_##name, nullptr},
#include "libcore/scalar/bits.def"
#undef BITS
  OperatorRow{ScalarOp::logical_or,  [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateOr(x, y); },                            nullptr},
  OperatorRow{ScalarOp::logical_and, [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateAnd(x, y); },                           nullptr},
  OperatorRow{ScalarOp::logical_not, [](Builder& b, LlvmValue* x, LlvmValue*) { return b.CreateNot(x); },                                nullptr},
  OperatorRow{ScalarOp::eq,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpEQ(x, y); },                        [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpOEQ(x, y); }},
  OperatorRow{ScalarOp::ne,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpNE(x, y); },                        [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpUNE(x, y); }},
  OperatorRow{ScalarOp::lt,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpSLT(x, y); },                       [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpOLT(x, y); }},
  OperatorRow{ScalarOp::le,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpSLE(x, y); },                       [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpOLE(x, y); }},
  OperatorRow{ScalarOp::gt,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpSGT(x, y); },                       [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpOGT(x, y); }},
  OperatorRow{ScalarOp::ge,          [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateICmpSGE(x, y); },                       [](Builder& b, LlvmValue* x, LlvmValue* y) { return b.CreateFCmpOGE(x, y); }},
};
// clang-format on

// i1 is signed for LLVM (true is -1): order bools as bytes.
LlvmValue* as_ordered(Builder& b, LlvmValue* x) {
  llvm::Type* byte = b.getInt8Ty();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    byte = llvm::FixedVectorType::get(byte, vector->getNumElements());
  }
  return b.CreateZExt(x, byte);
}

}  // namespace

Plane Emitter::plain(ScalarOp op, Scalar operand, std::span<const Plane> args) {
  const auto* r = std::find_if(operators.begin(), operators.end(), [&](const OperatorRow& o) { return o.op == op; });
  const bool uniform = std::all_of(args.begin(), args.end(), [](const Plane& p) { return p.uniform; });
  std::array<LlvmValue*, 2> v{};
  for (size_t i = 0; i < args.size(); ++i) v[i] = uniform ? args[i].value : spread(args[i]);
  if (r == operators.end()) {
    if (!emits_math(op, ElementType::of(operand))) throw InternalError("no code for a scalar operator");
    return {emit_math(b, op, std::span(v).first(args.size()), jit_.target()), uniform};
  }
  const Emit emit = is_float(operand) ? r->real : r->integer;
  if (emit == nullptr) throw InternalError("no code for this operator on this type");
  if (operand == Scalar::boolean && row(op).result == ResultRule::compare) {
    for (LlvmValue*& x : v) x = as_ordered(b, x);
  }
  return {emit(b, v[0], v[1]), uniform};
}

Plane Emitter::cast(Scalar from, Scalar to, const Plane& p) {
  LlvmValue* x = p.value;
  llvm::Type* target = p.uniform ? type(to) : wide(type(to));
  if (type(from) == type(to)) return p;
  if (to == Scalar::boolean) {
    if (!is_float(from)) return {b.CreateIsNotNull(x), p.uniform};
    return {b.CreateFCmpUNE(x, llvm::ConstantFP::get(x->getType(), 0.0)), p.uniform};
  }
  if (is_float(from)) {
    if (is_float(to)) return {b.CreateFPCast(x, target), p.uniform};
    return {b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {target, x->getType()}, {x}), p.uniform};
  }
  if (is_float(to)) {
    return {from == Scalar::boolean ? b.CreateUIToFP(x, target) : b.CreateSIToFP(x, target), p.uniform};
  }
  if (from == Scalar::boolean) return {b.CreateZExt(x, target), p.uniform};
  if (to == Scalar::i32) {
    const auto limit = [&](std::int32_t value) { return llvm::ConstantInt::getSigned(x->getType(), value); };
    x = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, limit(std::numeric_limits<std::int32_t>::min()));
    x = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, limit(std::numeric_limits<std::int32_t>::max()));
  }
  return {b.CreateSExtOrTrunc(x, target), p.uniform};
}

}  // namespace kasen
