#include "libkernels/jit/emit_math.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace kasen {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// ln 2 in two pieces; the first has 32 bits, so that its product with an exponent is exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 1.90821492927058770002e-10;
// Added to a number below 2^51, it leaves the nearest integer in the last bits.
constexpr double rounding = 0x1.8p52;

// Arithmetic on values of one shape, that of `like`.
class Reals {
 public:
  Reals(llvm::IRBuilder<>& builder, llvm::Value* like, const Target& target)
      : b(builder),
        type_(like->getType()),
        scales_(type_->isVectorTy() && target.scales()),
        gathers_(target.takes_first(Choice::reads)) {}

  llvm::IRBuilder<>& b;

  [[nodiscard]] llvm::Value* real(double value) const { return llvm::ConstantFP::get(type_, value); }
  [[nodiscard]] llvm::Value* integer(std::uint64_t value) const { return llvm::ConstantInt::get(bits_type(), value); }
  [[nodiscard]] llvm::Value* bits(llvm::Value* x) const { return b.CreateBitCast(x, bits_type()); }
  [[nodiscard]] llvm::Value* from_bits(llvm::Value* x) const { return b.CreateBitCast(x, type_); }
  [[nodiscard]] llvm::Value* fused(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {  // x y + z, rounded once
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
  }
  [[nodiscard]] llvm::Value* mul(llvm::Value* x, llvm::Value* y) const { return b.CreateFMul(x, y); }
  [[nodiscard]] llvm::Value* add(llvm::Value* x, llvm::Value* y) const { return b.CreateFAdd(x, y); }
  [[nodiscard]] llvm::Value* sub(llvm::Value* x, llvm::Value* y) const { return b.CreateFSub(x, y); }
  // x, but `limit` if x is beyond it; NaN stays.
  [[nodiscard]] llvm::Value* at_most(llvm::Value* x, double limit) const {
    return b.CreateSelect(b.CreateFCmpOGT(x, real(limit)), real(limit), x);
  }
  [[nodiscard]] llvm::Value* at_least(llvm::Value* x, double limit) const {
    return b.CreateSelect(b.CreateFCmpOLT(x, real(limit)), real(limit), x);
  }

  // c0 + c1 x + ...: pairs of neighbours first, then pairs of pairs (Estrin), so that no operation waits for all before
  // it.
  [[nodiscard]] llvm::Value* polynomial(llvm::Value* x, std::vector<llvm::Value*> c) const {
    for (; c.size() > 1; x = c.size() > 1 ? mul(x, x) : x) {
      std::vector<llvm::Value*> pairs;
      for (std::size_t k = 0; k < c.size(); k += 2) {
        pairs.push_back(k + 1 < c.size() ? fused(c[k + 1], x, c[k]) : c[k]);
      }
      c = std::move(pairs);
    }
    return c[0];
  }
  template <std::size_t n>
  [[nodiscard]] llvm::Value* polynomial(llvm::Value* x, const std::array<double, n>& c) const {
    std::vector<llvm::Value*> values;
    for (const double value : c) values.push_back(real(value));
    return polynomial(x, std::move(values));
  }

  // Whether scaled() is one instruction.
  [[nodiscard]] bool scales() const { return scales_; }
  // x 2^n for an integer n, rounded once.
  [[nodiscard]] llvm::Value* scaled(llvm::Value* x, llvm::Value* n) const {
    constexpr unsigned width = 8, as_set = 4;  // lanes of the instruction; round as the processor is set to
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type_)->getNumElements();
    std::vector<llvm::Value*> parts;
    for (unsigned first = 0; first < lanes; first += width) {
      std::vector<int> places(width);
      std::iota(places.begin(), places.end(), static_cast<int>(first));
      llvm::Value *of = b.CreateShuffleVector(x, places), *by = b.CreateShuffleVector(n, places);
      parts.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_pd_512, {},
                                        {of, by, of, b.getInt8(0xff), b.getInt32(as_set)}));
    }
    return llvm::concatenateVectors(b, parts);
  }

  // table[index], where the index is one of the table's.
  [[nodiscard]] llvm::Value* entry(const llvm::ArrayRef<double> table, const char* name, llvm::Value* index) const {
    llvm::Module& module = *b.GetInsertBlock()->getModule();
    llvm::Constant* data = llvm::ConstantDataArray::get(b.getContext(), table);
    auto* global = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(name, data->getType()));
    global->setInitializer(data);
    global->setConstant(true);
    global->setLinkage(llvm::GlobalValue::PrivateLinkage);
    global->setAlignment(llvm::Align(64));
    llvm::Value* address = b.CreateGEP(b.getDoubleTy(), global, index);
    if (!type_->isVectorTy()) return b.CreateLoad(type_, address);
    if (!gathers_) return lane_by_lane(address);
    return b.CreateMaskedGather(type_, address, llvm::Align(8));
  }

 private:
  [[nodiscard]] llvm::Value* lane_by_lane(llvm::Value* addresses) const {
    llvm::Value* lanes = llvm::PoisonValue::get(type_);
    for (unsigned l = 0; l < llvm::cast<llvm::FixedVectorType>(type_)->getNumElements(); ++l) {
      llvm::Value* number = b.CreateLoad(b.getDoubleTy(), b.CreateExtractElement(addresses, l));
      lanes = b.CreateInsertElement(lanes, number, l);
    }
    return lanes;
  }

  [[nodiscard]] llvm::Type* bits_type() const { return type_->getWithNewType(llvm::Type::getInt64Ty(b.getContext())); }

  llvm::Type* type_;
  bool scales_;
  bool gathers_;
};

// 2^n e^r with |r| <= ln 2 / 2. The polynomial errs by at most 2^-57.9 of e^r, in all of that range alike.
llvm::Value* emit_exp(const Reals& r, llvm::Value* x) {
  constexpr std::array terms{0.50000000000000111,    0.16666666666666413,   0.041666666666530155,
                             0.0083333333334944647,  0.0013888888943631107, 0.00019841269506574687,
                             2.4801493097934204e-05, 2.755758637548783e-06, 2.7630248706991783e-07,
                             2.5000061506648057e-08};  // of (e^r - 1 - r) / r^2
  x = r.at_least(r.at_most(x, 710), -746);             // infinity and 0 from there on
  llvm::Value* shifted = r.fused(x, r.real(std::numbers::log2e), r.real(rounding));
  llvm::Value* n = r.sub(shifted, r.real(rounding));
  llvm::Value* minus_n = r.b.CreateFNeg(n);
  llvm::Value* rest = r.fused(minus_n, r.real(ln2_low), r.fused(minus_n, r.real(ln2_high), x));
  llvm::Value* tail = r.mul(r.mul(rest, rest), r.polynomial(rest, terms));
  llvm::Value* power = r.add(r.add(tail, rest), r.real(1));
  if (r.scales()) return r.scaled(power, n);
  // 2^n in two factors, each of which is a normal number: a result that is not normal is rounded once.
  llvm::Value* exponent = r.b.CreateSub(r.bits(shifted), r.integer(std::bit_cast<std::uint64_t>(rounding)));
  llvm::Value* half = r.b.CreateAShr(exponent, r.integer(1));
  for (llvm::Value* part : {half, r.b.CreateSub(exponent, half)}) {
    power = r.mul(power, r.from_bits(r.b.CreateShl(r.b.CreateAdd(part, r.integer(1023)), r.integer(52))));
  }
  return power;
}

// log(x) + more, for a normal number x = 2^k z with z in [sqrt(1/2), sqrt(2)), less k if it is given. With f = z - 1
// and s = f / (2 + f), log z = 2 atanh s = f - s (f - 2 (s^2/3 + s^4/5 + ...)) = f - (f^2/2 - s (f^2/2 + R)). The
// polynomial in s^2 for R / s^2 has the least error of R, 2^-58.4 (the exchange of Remez in 60 digits, then rounded).
llvm::Value* log_of_normal(const Reals& r, llvm::Value* x, llvm::Value* less, llvm::Value* more) {
  constexpr std::array terms{0.6666666666666734,  0.39999999999414321, 0.28571428742474397, 0.22222198563552553,
                             0.18183564862500348, 0.15314035955641916, 0.14796104129218132};
  constexpr auto begin = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  llvm::Value* bits = r.bits(x);
  llvm::Value* k = r.b.CreateAShr(r.b.CreateSub(bits, r.integer(begin)), r.integer(52));
  llvm::Value* f = r.sub(r.from_bits(r.b.CreateSub(bits, r.b.CreateShl(k, r.integer(52)))), r.real(1));
  if (less != nullptr) k = r.b.CreateSub(k, less);
  // An integer below 2^51 behind the bits of `rounding` is that number plus `rounding`.
  llvm::Value* exponent =
      r.sub(r.from_bits(r.b.CreateAdd(k, r.integer(std::bit_cast<std::uint64_t>(rounding)))), r.real(rounding));
  llvm::Value* s = r.b.CreateFDiv(f, r.add(f, r.real(2)));
  llvm::Value* square = r.mul(s, s);
  llvm::Value* half = r.mul(r.mul(f, r.real(0.5)), f);
  llvm::Value* series = r.fused(square, r.polynomial(square, terms), half);
  llvm::Value* low = r.mul(exponent, r.real(ln2_low));
  if (more != nullptr) low = r.add(low, more);
  llvm::Value* tail = r.sub(half, r.fused(s, series, low));
  return r.fused(exponent, r.real(ln2_high), r.sub(f, tail));
}

// `result`, or the logarithm's value for an x that is no normal number above 0.
llvm::Value* with_ends(const Reals& r, llvm::Value* x, llvm::Value* result) {
  result = r.b.CreateSelect(r.b.CreateFCmpOEQ(x, r.real(infinity)), x, result);
  llvm::Value* outside = r.b.CreateSelect(r.b.CreateFCmpOEQ(x, r.real(0)), r.real(-infinity),
                                          r.real(std::numeric_limits<double>::quiet_NaN()));
  return r.b.CreateSelect(r.b.CreateFCmpOGT(x, r.real(0)), result, outside);
}

llvm::Value* emit_log(const Reals& r, llvm::Value* x) {
  constexpr double smallest = 0x1p-1022, scale = 0x1p54;
  llvm::Value* subnormal = r.b.CreateFCmpOLT(x, r.real(smallest));
  llvm::Value* normal = r.b.CreateSelect(subnormal, r.mul(x, r.real(scale)), x);
  llvm::Value* less = r.b.CreateSelect(subnormal, r.integer(54), r.integer(0));
  return with_ends(r, x, log_of_normal(r, normal, less, nullptr));
}

// The logarithm of u, which is 1 + x rounded, plus the effect of the rounding error to first order.
llvm::Value* emit_log1p(const Reals& r, llvm::Value* x) {
  llvm::Value* u = r.add(x, r.real(1));
  llvm::Value* of_x = r.sub(u, r.real(1));
  llvm::Value* lost = r.add(r.sub(r.real(1), r.sub(u, of_x)), r.sub(x, of_x));  // exactly
  llvm::Value* result = with_ends(r, u, log_of_normal(r, u, nullptr, r.b.CreateFDiv(lost, u)));
  return r.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);  // for -0
}

constexpr int erf_steps = 256;  // points a unit, at which erf and its derivative are known
constexpr int erf_end = 6;      // erf is 1 from there on
struct ErfTables {
  std::array<double, erf_steps * erf_end + 1> value, slope;
};

const ErfTables& erf_tables() {
  static const ErfTables tables = [] {
    ErfTables made{};
    for (std::size_t i = 0; i < made.value.size(); ++i) {
      const long double place = static_cast<long double>(i) / erf_steps;
      made.value[i] = static_cast<double>(std::erf(place));
      made.slope[i] = static_cast<double>(2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-place * place));
    }
    return made;
  }();
  return tables;
}

// Taylor's sum at the nearest point p of the table, d = |x| - p, |d| <= 1/512: erf(x) = erf(p) + erf'(p) d (1 + c1 d +
// c2 d^2 + ...), whose coefficients follow from erf'' = -2 x erf'. The sixth term is below 2^-55.
llvm::Value* emit_erf(const Reals& r, llvm::Value* x) {
  llvm::Value* magnitude = r.at_most(r.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), erf_end);
  llvm::Value* shifted = r.fused(magnitude, r.real(erf_steps), r.real(rounding));
  llvm::Value* index = r.b.CreateSub(r.bits(shifted), r.integer(std::bit_cast<std::uint64_t>(rounding)));
  index = r.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, r.integer(erf_steps * erf_end));  // for NaN
  llvm::Value* p = r.mul(r.sub(shifted, r.real(rounding)), r.real(1.0 / erf_steps));
  llvm::Value* d = r.sub(magnitude, p);
  llvm::Value* square = r.mul(p, p);
  llvm::Value* c1 = r.b.CreateFNeg(p);
  llvm::Value* c2 = r.fused(square, r.real(2.0 / 3), r.real(-1.0 / 3));
  llvm::Value* c3 = r.mul(p, r.fused(square, r.real(-1.0 / 3), r.real(1.0 / 2)));
  llvm::Value* c4 = r.fused(square, r.fused(square, r.real(4.0 / 30), r.real(-12.0 / 30)), r.real(3.0 / 30));
  llvm::Value* tail = r.mul(d, r.polynomial(d, {c1, c2, c3, c4}));
  const ErfTables& tables = erf_tables();
  llvm::Value* step = r.mul(r.entry(tables.slope, "erf_slope", index), d);
  llvm::Value* result = r.add(r.entry(tables.value, "erf_value", index), r.fused(step, tail, step));
  return r.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace

bool emits_math(ScalarOp op, const ElementType& operand) {
  const bool known = op == ScalarOp::exp || op == ScalarOp::log || op == ScalarOp::log1p || op == ScalarOp::erf;
  return known && operand == ElementType::of(Scalar::f64);
}

llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, llvm::Value* x, const Target& target) {
  const Reals reals(b, x, target);
  if (op == ScalarOp::exp) return emit_exp(reals, x);
  if (op == ScalarOp::log) return emit_log(reals, x);
  if (op == ScalarOp::log1p) return emit_log1p(reals, x);
  return emit_erf(reals, x);
}

}  // namespace kasen
