#include "libkernels/emit_math.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
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
  Reals(llvm::IRBuilder<>& builder, llvm::Value* like) : b(builder), type_(like->getType()) {}

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
  // x, but `limit` where it is beyond; not a number stays so.
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

  // table[index], which is one of the table's.
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
    return b.CreateMaskedGather(type_, address, llvm::Align(8));
  }

 private:
  [[nodiscard]] llvm::Type* bits_type() const { return type_->getWithNewType(llvm::Type::getInt64Ty(b.getContext())); }

  llvm::Type* type_;
};

// 2^n e^r with |r| <= ln 2 / 2, and Taylor's sum of e^r: the fourteenth term is below 2^-57.
llvm::Value* emit_exp(const Reals& r, llvm::Value* x) {
  constexpr auto terms = [] {  // of (e^r - 1 - r) / r^2
    std::array<double, 12> c{};
    double factorial = 1;
    for (int k = 2; k < 14; ++k) c[static_cast<std::size_t>(k - 2)] = 1 / (factorial *= k);
    return c;
  }();
  x = r.at_least(r.at_most(x, 710), -746);  // infinity and 0 from there on
  llvm::Value* shifted = r.fused(x, r.real(std::numbers::log2e), r.real(rounding));
  llvm::Value* n = r.sub(shifted, r.real(rounding));
  llvm::Value* minus_n = r.b.CreateFNeg(n);
  llvm::Value* rest = r.fused(minus_n, r.real(ln2_low), r.fused(minus_n, r.real(ln2_high), x));
  llvm::Value* tail = r.mul(r.mul(rest, rest), r.polynomial(rest, terms));
  llvm::Value* power = r.add(r.add(tail, rest), r.real(1));
  // 2^n in two factors, each of which is a normal number: a result that is none is rounded once.
  llvm::Value* exponent = r.b.CreateSub(r.bits(shifted), r.integer(std::bit_cast<std::uint64_t>(rounding)));
  llvm::Value* half = r.b.CreateAShr(exponent, r.integer(1));
  for (llvm::Value* part : {half, r.b.CreateSub(exponent, half)}) {
    power = r.mul(power, r.from_bits(r.b.CreateShl(r.b.CreateAdd(part, r.integer(1023)), r.integer(52))));
  }
  return power;
}

// Of z in [0.7, 1.4), by its bits: 128 intervals, each with an inverse of a number in it and that number's logarithm. 1
// lies in the middle of its interval, whose inverse is 1: what is near 1 keeps all its bits.
constexpr int log_steps = 128, log_step_bits = 45;
constexpr std::uint64_t log_begin = std::bit_cast<std::uint64_t>(1.0) - (std::uint64_t{77} << log_step_bits) -
                                    (std::uint64_t{1} << (log_step_bits - 1));
struct LogTables {
  std::array<double, log_steps> inverse, logarithm;
};

const LogTables& log_tables() {
  static const LogTables tables = [] {
    LogTables made{};
    for (std::uint64_t i = 0; i < log_steps; ++i) {
      const std::uint64_t middle = log_begin + (i << log_step_bits) + (std::uint64_t{1} << (log_step_bits - 1));
      made.inverse[i] = 1 / std::bit_cast<double>(middle);
      made.logarithm[i] = static_cast<double>(-std::log(static_cast<long double>(made.inverse[i])));
    }
    return made;
  }();
  return tables;
}

// x = 2^k z; with c the table's inverse and r = c z - 1, |r| <= 1/255, log x = k ln 2 - log c + r - r^2/2 + ..., whose
// eighth term is below 2^-58 of r.
llvm::Value* emit_log(const Reals& r, llvm::Value* x) {
  constexpr std::array terms{-1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7};
  constexpr double smallest = 0x1p-1022, scale = 0x1p54;
  llvm::Value* subnormal = r.b.CreateFCmpOLT(x, r.real(smallest));
  llvm::Value* bits = r.bits(r.b.CreateSelect(subnormal, r.mul(x, r.real(scale)), x));
  llvm::Value* above = r.b.CreateSub(bits, r.integer(log_begin));
  llvm::Value* index = r.b.CreateAnd(r.b.CreateLShr(above, r.integer(log_step_bits)), r.integer(log_steps - 1));
  llvm::Value* k = r.b.CreateAShr(above, r.integer(52));
  llvm::Value* z = r.from_bits(r.b.CreateSub(bits, r.b.CreateShl(k, r.integer(52))));
  k = r.b.CreateSub(k, r.b.CreateSelect(subnormal, r.integer(54), r.integer(0)));
  // An integer below 2^51 behind the bits of `rounding` is that number plus `rounding`.
  llvm::Value* exponent =
      r.sub(r.from_bits(r.b.CreateAdd(k, r.integer(std::bit_cast<std::uint64_t>(rounding)))), r.real(rounding));
  const LogTables& tables = log_tables();
  llvm::Value* rest = r.fused(z, r.entry(tables.inverse, "log_inverse", index), r.real(-1));
  llvm::Value* tail = r.mul(r.mul(rest, rest), r.polynomial(rest, terms));
  llvm::Value* known = r.fused(exponent, r.real(ln2_high), r.entry(tables.logarithm, "log_logarithm", index));
  llvm::Value* high = r.add(known, rest);  // |known| >= |rest|, or 0: what the sum loses is a number
  llvm::Value* lost = r.add(r.sub(known, high), rest);
  llvm::Value* result = r.add(high, r.add(lost, r.fused(exponent, r.real(ln2_low), tail)));
  result = r.b.CreateSelect(r.b.CreateFCmpOEQ(x, r.real(infinity)), x, result);
  llvm::Value* outside = r.b.CreateSelect(r.b.CreateFCmpOEQ(x, r.real(0)), r.real(-infinity),
                                          r.real(std::numeric_limits<double>::quiet_NaN()));
  return r.b.CreateSelect(r.b.CreateFCmpOGT(x, r.real(0)), result, outside);
}

constexpr int erf_steps = 256;  // places a unit, at which erf and its derivative are known
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

// Taylor's sum at the nearest place p of the table, d = |x| - p, |d| <= 1/512: erf(x) = erf(p) + erf'(p) d (1 + c1 d +
// c2 d^2 + ...), whose coefficients follow from erf'' = -2 x erf'. The sixth term is below 2^-55.
llvm::Value* emit_erf(const Reals& r, llvm::Value* x) {
  llvm::Value* magnitude = r.at_most(r.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), erf_end);
  llvm::Value* shifted = r.fused(magnitude, r.real(erf_steps), r.real(rounding));
  llvm::Value* index = r.b.CreateSub(r.bits(shifted), r.integer(std::bit_cast<std::uint64_t>(rounding)));
  index = r.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, r.integer(erf_steps * erf_end));  // of no number
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
  const bool known = op == ScalarOp::exp || op == ScalarOp::log || op == ScalarOp::erf;
  return known && operand == ElementType::of(Scalar::f64);
}

llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, llvm::Value* x) {
  const Reals reals(b, x);
  if (op == ScalarOp::exp) return emit_exp(reals, x);
  if (op == ScalarOp::log) return emit_log(reals, x);
  return emit_erf(reals, x);
}

}  // namespace kasen
