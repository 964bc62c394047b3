#include "libkernels/math/reals.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <utility>

#include "libkernels/jit/primitives.h"

namespace kasen {

Reals::Reals(llvm::IRBuilder<>& builder, llvm::Type* shape, const Target& target)
    : b(builder), type_(shape), target_(target) {}

Real Reals::real(double value) const { return {this, llvm::ConstantFP::get(type_, value)}; }

Integer Reals::integer(std::uint64_t value) const { return {this, llvm::ConstantInt::get(bits_type(), value)}; }

llvm::Type* Reals::bits_type() const { return type_->getWithNewType(llvm::Type::getInt64Ty(b.getContext())); }

unsigned Reals::lanes() const {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  return vector == nullptr ? 1 : vector->getNumElements();
}

Real Reals::entry(llvm::ArrayRef<double> table, const char* name, Integer index) const {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), table);
  auto* global = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(name, data->getType()));
  global->setInitializer(data);
  global->setConstant(true);
  global->setLinkage(llvm::GlobalValue::PrivateLinkage);
  global->setAlignment(llvm::Align(64));
  llvm::Value* address = b.CreateGEP(b.getDoubleTy(), global, index.value);
  if (!type_->isVectorTy()) return take(b.CreateLoad(type_, address));
  if (!target_.takes_first(Choice::reads)) return take(lane_by_lane(address));
  return take(b.CreateMaskedGather(type_, address, llvm::Align(8)));
}

llvm::Value* Reals::lane_by_lane(llvm::Value* addresses) const {
  llvm::Value* values = llvm::PoisonValue::get(type_);
  for (unsigned l = 0; l < lanes(); ++l) {
    llvm::Value* number = b.CreateLoad(b.getDoubleTy(), b.CreateExtractElement(addresses, l));
    values = b.CreateInsertElement(values, number, l);
  }
  return values;
}

Real operator+(Real x, Real y) { return x.in->take(x.in->b.CreateFAdd(x.value, y.value)); }
Real operator-(Real x, Real y) { return x.in->take(x.in->b.CreateFSub(x.value, y.value)); }
Real operator*(Real x, Real y) { return x.in->take(x.in->b.CreateFMul(x.value, y.value)); }
Real operator/(Real x, Real y) { return x.in->take(x.in->b.CreateFDiv(x.value, y.value)); }
Real operator-(Real x) { return x.in->take(x.in->b.CreateFNeg(x.value)); }
Test operator<(Real x, double y) { return {x.in, x.in->b.CreateFCmpOLT(x.value, x.in->real(y).value)}; }
Test operator>(Real x, double y) { return {x.in, x.in->b.CreateFCmpOGT(x.value, x.in->real(y).value)}; }
Test operator==(Real x, Real y) { return {x.in, x.in->b.CreateFCmpOEQ(x.value, y.value)}; }
Integer operator+(Integer x, Integer y) { return {x.in, x.in->b.CreateAdd(x.value, y.value)}; }
Integer operator-(Integer x, Integer y) { return {x.in, x.in->b.CreateSub(x.value, y.value)}; }
Integer operator<<(Integer x, std::uint64_t bits) { return {x.in, x.in->b.CreateShl(x.value, bits)}; }
Integer operator>>(Integer x, std::uint64_t bits) { return {x.in, x.in->b.CreateAShr(x.value, bits)}; }
Integer operator&(Integer x, std::uint64_t y) { return {x.in, x.in->b.CreateAnd(x.value, y)}; }
Integer operator^(Integer x, Integer y) { return {x.in, x.in->b.CreateXor(x.value, y.value)}; }
Test operator==(Integer x, std::uint64_t y) { return {x.in, x.in->b.CreateICmpEQ(x.value, x.in->integer(y).value)}; }
Test operator&&(Test x, Test y) { return {x.in, x.in->b.CreateAnd(x.value, y.value)}; }
Test operator!(Test x) { return {x.in, x.in->b.CreateNot(x.value)}; }

Real fused(Real x, Real y, Real z) {
  return x.in->take(x.in->b.CreateIntrinsic(llvm::Intrinsic::fma, {x.in->type()}, {x.value, y.value, z.value}));
}
Real abs(Real x) { return x.in->take(x.in->b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x.value)); }
Real sqrt(Real x) { return x.in->take(x.in->b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.value)); }
Real floor(Real x) { return x.in->take(x.in->b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x.value)); }
Real with_sign_of(Real x, Real sign) {
  return x.in->take(x.in->b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x.value, sign.value));
}
Real select(Test test, Real yes, Real no) {
  return yes.in->take(yes.in->b.CreateSelect(test.value, yes.value, no.value));
}
Integer select(Test test, std::uint64_t yes, std::uint64_t no) {
  return {test.in, test.in->b.CreateSelect(test.value, test.in->integer(yes).value, test.in->integer(no).value)};
}
Integer bits(Real x) { return {x.in, x.in->b.CreateBitCast(x.value, x.in->bits_type())}; }
Real from_bits(Integer x) { return x.in->take(x.in->b.CreateBitCast(x.value, x.in->type())); }
Integer at_least(Integer x, std::int64_t limit) {
  llvm::Value* const least = x.in->integer(static_cast<std::uint64_t>(limit)).value;
  return {x.in, x.in->b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x.value, least)};
}
Integer at_most(Integer x, std::uint64_t limit) {
  return {x.in, x.in->b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x.value, x.in->integer(limit).value)};
}

TwoReals exact_sum(Real x, Real y) {
  const Real sum = x + y, of_y = sum - x;
  return {sum, (x - (sum - of_y)) + (y - of_y)};
}

TwoReals exact_product(Real x, Real y) {
  const Real product = x * y;
  return {product, fused(x, y, -product)};
}

TwoReals ordered_sum(Real x, Real y) {
  const Real sum = x + y;
  return {sum, (x - sum) + y};
}

Real polynomial(Real x, std::vector<Real> c) {
  for (; c.size() > 1; x = c.size() > 1 ? x * x : x) {
    std::vector<Real> pairs;
    for (std::size_t k = 0; k < c.size(); k += 2) {
      pairs.push_back(k + 1 < c.size() ? fused(c[k + 1], x, c[k]) : c[k]);
    }
    c = std::move(pairs);
  }
  return c[0];
}

Rounded nearest_integer(Real shifted) {
  return {shifted - rounding, bits(shifted) - std::bit_cast<std::uint64_t>(rounding)};
}

Real power_of_2(Integer n) { return from_bits((n + 1023) << 52); }

Real scaled(Real x, const Rounded& n) {
  if (llvm::Value* at_once = scaled_at_once(x.in->b, x.in->target(), x.value, n.number.value))
    return x.in->take(at_once);
  // 2^n in two factors, each of which is a normal number: a result that is not normal is rounded once.
  const Integer half = n.integer >> 1;
  return x * power_of_2(half) * power_of_2(n.integer - half);
}

}  // namespace kasen
