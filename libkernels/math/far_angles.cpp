#include "libkernels/math/far_angles.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <array>
#include <limits>

namespace kasen {
namespace {

constexpr double far = 0x1p30;

// The bits of 2/pi behind the binary point, after 64 zeros: as many as the largest number and 192 bits of an angle
// need.
constexpr std::array<std::uint64_t, 20> bits_of_2_over_pi{0,
                                                          0xa2f9836e4e441529,
                                                          0xfc2757d1f534ddc0,
                                                          0xdb6295993c439041,
                                                          0xfe5163abdebbc561,
                                                          0xb7246e3a424dd2e0,
                                                          0x06492eea09d1921c,
                                                          0xfe1deb1cb129a73e,
                                                          0xe88235f52ebb4484,
                                                          0xe99c7026b45f7e41,
                                                          0x3991d639835339f4,
                                                          0x9c845f8bbdf9283b,
                                                          0x1ff897ffde05980f,
                                                          0xef2f118b5a0a6d1f,
                                                          0x6d367ecf27cb09b7,
                                                          0x4f463f669e5fea2d,
                                                          0x7527bac7ebe5f17b,
                                                          0x3d0739f78a5292ea,
                                                          0x6bfb5fb11f8d5d08};

// Writes the function that reduces one number (Payne and Hanek). x = M 2^E with a whole M below 2^53; bits of 2/pi that
// are multiples of 4 beside M 2^E count for nothing, so 192 bits from there on give x 2/pi modulo 4 in 128 bits, two of
// them before the binary point.
class Reduction {
 public:
  Reduction(llvm::Function* function, AngleOf of, const Target& target)
      : b_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
        of_(of),
        x_(function->getArg(0)),
        reals_(b_, b_.getDoubleTy(), target) {}

  void write() {
    llvm::Value* quarters = position();
    llvm::Value* turns = nullptr;
    llvm::Value* rest = nullptr;
    if (of_ == AngleOf::tangent) {
      turns = b_.CreateLShr(b_.CreateAdd(quarters, b_.CreateShl(wide(1), 125)), 126);
      rest = b_.CreateSub(quarters, b_.CreateShl(turns, 126));
    } else {
      if (of_ == AngleOf::cosine) quarters = b_.CreateSub(quarters, b_.CreateShl(wide(1), 126));
      turns = b_.CreateLShr(b_.CreateAdd(quarters, b_.CreateShl(wide(1), 126)), 127);
      rest = b_.CreateSub(quarters, b_.CreateShl(turns, 127));
    }
    negate_if(b_.CreateICmpSLT(word(), b_.getInt64(0)), turns, rest);
    const TwoReals angle = in_radians(rest);
    llvm::Value* result = llvm::PoisonValue::get(b_.GetInsertBlock()->getParent()->getReturnType());
    result = b_.CreateInsertValue(result, b_.CreateTrunc(turns, b_.getInt64Ty()), 0);
    result = b_.CreateInsertValue(result, angle.high.value, 1);
    b_.CreateRet(b_.CreateInsertValue(result, angle.low.value, 2));
  }

 private:
  [[nodiscard]] llvm::Value* word() { return b_.CreateBitCast(x_, b_.getInt64Ty()); }
  [[nodiscard]] llvm::Value* wide(std::uint64_t value) { return b_.getIntN(128, value); }

  // Of |x|.
  [[nodiscard]] llvm::Value* position() {
    llvm::Value* field = b_.CreateAnd(b_.CreateLShr(word(), 52), 0x7ff);
    llvm::Value* mantissa = b_.CreateOr(b_.CreateAnd(word(), (std::uint64_t{1} << 52) - 1), std::uint64_t{1} << 52);
    // The first bit that counts has the weight 2 / 2^E, and stands at E - 1 behind the binary point; E = field - 1075.
    // Lanes that are not far come here too, and take any bits.
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, field, b_.getInt64(1075 + 2 - 64));
    llvm::Value *at = b_.CreateLShr(first, 6), *shift = b_.CreateAnd(first, 63);
    std::array<llvm::Value*, 4> words{};
    for (unsigned k = 0; k < words.size(); ++k) words[k] = table(b_.CreateAdd(at, b_.getInt64(k)));
    std::array<llvm::Value*, 3> products{};
    for (unsigned k = 0; k < products.size(); ++k) {
      llvm::Value* part = b_.CreateIntrinsic(llvm::Intrinsic::fshl, {b_.getInt64Ty()}, {words[k], words[k + 1], shift});
      products[k] = b_.CreateMul(b_.CreateZExt(mantissa, b_.getInt128Ty()), b_.CreateZExt(part, b_.getInt128Ty()));
    }
    return b_.CreateAdd(b_.CreateAdd(b_.CreateShl(products[0], 64), products[1]), b_.CreateLShr(products[2], 64));
  }

  [[nodiscard]] llvm::Value* table(llvm::Value* index) {
    llvm::Module& module = *b_.GetInsertBlock()->getModule();
    llvm::Constant* data =
        llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<std::uint64_t>(bits_of_2_over_pi));
    auto* global = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal("bits_of_2_over_pi", data->getType()));
    global->setInitializer(data);
    global->setConstant(true);
    global->setLinkage(llvm::GlobalValue::PrivateLinkage);
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateGEP(b_.getInt64Ty(), global, index));
  }

  // -x has the opposite rest and turns; for the cosine, -(2 m + 1) = 2 (-m - 1) + 1.
  void negate_if(llvm::Value* condition, llvm::Value*& turns, llvm::Value*& rest) {
    llvm::Value* opposite = of_ == AngleOf::cosine ? b_.CreateNot(turns) : b_.CreateNeg(turns);
    turns = b_.CreateSelect(condition, opposite, turns);
    rest = b_.CreateSelect(condition, b_.CreateNeg(rest), rest);
  }

  // `rest` is a number of quarter turns with a sign, in units of 2^-126.
  [[nodiscard]] TwoReals in_radians(llvm::Value* rest) {
    llvm::Value* negative = b_.CreateICmpSLT(rest, wide(0));
    llvm::Value* size = b_.CreateSelect(negative, b_.CreateNeg(rest), rest);
    llvm::Value* zeros = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {size->getType()}, {size, b_.getFalse()});
    llvm::Value* digits = b_.CreateShl(size, zeros);
    const auto part = [&](unsigned from) {  // 53 bits
      llvm::Value* taken =
          b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(digits, from), b_.getInt64Ty()), (std::uint64_t{1} << 53) - 1);
      return reals_.take(b_.CreateSIToFP(taken, b_.getDoubleTy()));
    };
    const Integer unit =
        reals_.integer(static_cast<std::uint64_t>(75 - 126)) - Integer{&reals_, b_.CreateTrunc(zeros, b_.getInt64Ty())};
    const Real high = part(75) * power_of_2(unit), low = part(22) * power_of_2(unit - 53);
    const TwoReals product = exact_product(high, reals_.real(0x1.921fb54442d18p+0));
    const TwoReals angle =
        ordered_sum(product.high, product.low + fused(high, 6.123233995736766e-17, low * 0x1.921fb54442d18p+0));
    const Test minus{&reals_, negative};
    return {select(minus, -angle.high, angle.high), select(minus, -angle.low, angle.low)};
  }

  llvm::IRBuilder<> b_;
  AngleOf of_;
  llvm::Value* x_;
  Reals reals_;
};

llvm::Function* reduction(const Reals& in, AngleOf function) {
  constexpr std::array names{"kasen_far_angle_of_sine", "kasen_far_angle_of_cosine", "kasen_far_angle_of_tangent"};
  llvm::Function* const caller = in.b.GetInsertBlock()->getParent();
  llvm::Module& module = *caller->getParent();
  const char* const name = names.at(static_cast<std::size_t>(function));
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Type* number = in.b.getDoubleTy();
  auto* result = llvm::StructType::get(in.b.getInt64Ty(), number, number);
  // Every kernel that calls it has its own; where kernels become one object, one of them stays.
  auto* made = llvm::Function::Create(llvm::FunctionType::get(result, {number}, false),
                                      llvm::Function::LinkOnceODRLinkage, name, module);
  made->addFnAttrs(llvm::AttrBuilder(made->getContext(), caller->getAttributes().getFnAttrs()));
  made->addFnAttr(llvm::Attribute::NoInline);
  Reduction(made, function, in.target()).write();
  return made;
}

}  // namespace

Angle with_far_angles(Real x, AngleOf function, const Angle& near) {
  llvm::IRBuilder<>& b = x.in->b;
  llvm::Function* const inside = b.GetInsertBlock()->getParent();
  llvm::Value* is_far = (!(abs(x) < far)).value;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* some_far = llvm::BasicBlock::Create(b.getContext(), "far", inside);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b.getContext(), "done", inside);
  const bool vector = x.in->type()->isVectorTy();
  b.CreateCondBr(vector ? b.CreateOrReduce(is_far) : is_far, some_far, done);
  b.SetInsertPoint(some_far);
  std::array<llvm::Value*, 3> values{near.turns.value, near.rest.high.value, near.rest.low.value}, old = values;
  llvm::Function* reduce = reduction(*x.in, function);
  if (!vector) {
    llvm::Value* angle = b.CreateCall(reduce, {x.value});
    for (unsigned k = 0; k < values.size(); ++k) values[k] = b.CreateExtractValue(angle, k);
  } else {
    for (unsigned l = 0; l < x.in->lanes(); ++l) {
      llvm::Value* angle = b.CreateCall(reduce, {b.CreateExtractElement(x.value, l)});
      for (unsigned k = 0; k < values.size(); ++k)
        values[k] = b.CreateInsertElement(values[k], b.CreateExtractValue(angle, k), l);
    }
    for (unsigned k = 0; k < values.size(); ++k) values[k] = b.CreateSelect(is_far, values[k], old[k]);
  }
  llvm::BasicBlock* behind = b.GetInsertBlock();
  b.CreateBr(done);
  b.SetInsertPoint(done);
  for (unsigned k = 0; k < values.size(); ++k) {
    llvm::PHINode* either = b.CreatePHI(old[k]->getType(), 2);
    either->addIncoming(old[k], before);
    either->addIncoming(values[k], behind);
    values[k] = either;
  }
  const Reals& in = *x.in;
  const Real high = select(abs(x) < std::numeric_limits<double>::infinity(), in.take(values[1]), x - x);
  return {{&in, values[0]}, {high, in.take(values[2])}};
}

}  // namespace kasen
