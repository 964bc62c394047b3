// Polynomials over named sizes: arithmetic, text, evaluation, overflow.
#include "libopt/cost/polynomial.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "libcore/base/error.h"

namespace kasen {
namespace {

const Symbol n{SymbolKind::size, "N", {}, -1};
const Symbol s{SymbolKind::slaves, "N", {}, -1};
const Symbol nnz{SymbolKind::entries, "G", {}, -1};

std::string name(const Symbol& symbol) {
  if (symbol.kind == SymbolKind::slaves) return "S";
  return symbol.kind == SymbolKind::entries ? "nnz" : symbol.name;
}

std::string text(const Polynomial& p) { return p.text(name); }

TEST(Polynomial, PrintsSizesThenSlavesThenEntriesThenTheConstant) {
  const Polynomial p =
      Polynomial(5) + Polynomial(24) * Polynomial(nnz) + Polynomial(20) * Polynomial(n) + Polynomial(s);
  EXPECT_EQ(text(p), "20 N + S + 24 nnz + 5");
  EXPECT_EQ(text(Polynomial()), "0");
  EXPECT_EQ(text(Polynomial(-3)), "-3");
  EXPECT_EQ(text(Polynomial(n) - Polynomial(2) * Polynomial(s)), "N - 2 S");
  EXPECT_EQ(text(Polynomial(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
}

TEST(Polynomial, MultipliesOut) {
  const Polynomial sum = Polynomial(n) + Polynomial(s);
  EXPECT_EQ(text(sum * sum), "N^2 + 2 N S + S^2");
  EXPECT_EQ(sum * Polynomial(0), Polynomial());
  EXPECT_TRUE((sum - sum).is_zero());
}

TEST(Polynomial, AddsItselfToItself) {
  Polynomial p = Polynomial(n) + Polynomial(3);
  p += p;
  EXPECT_EQ(text(p), "2 N + 6");
  p -= p;
  EXPECT_TRUE(p.is_zero());
}

TEST(Polynomial, EvaluatesOnlyWhenEverySymbolIsBound) {
  const Polynomial p = Polynomial(20) * Polynomial(n) + Polynomial(24) * Polynomial(nnz) + Polynomial(7);
  EXPECT_EQ(p.evaluate({{n, 10}, {nnz, 100}}), 20 * 10 + 24 * 100 + 7);
  EXPECT_EQ(p.evaluate({{n, 10}}), std::nullopt);
  EXPECT_EQ(p.constant(), std::nullopt);
  EXPECT_EQ(Polynomial(7).constant(), 7);
  EXPECT_EQ(Polynomial().constant(), 0);
}

TEST(Polynomial, ReplacesSymbolsByPolynomials) {
  const Polynomial p = Polynomial(2) * Polynomial(n) * Polynomial(s) + Polynomial(nnz);
  const Polynomial q =
      p.replace([](const Symbol& x) { return x == s ? Polynomial(n) + Polynomial(1) : Polynomial(x); });
  EXPECT_EQ(text(q), "2 N + 2 N^2 + nnz");
  EXPECT_EQ(p.symbols(), (std::vector<Symbol>{n, s, nnz}));
}

TEST(Polynomial, RefusesWhatDoesNotFit) {
  const Polynomial large(std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW((void)(large + Polynomial(1)), UserError);
  EXPECT_THROW((void)(large * Polynomial(2)), UserError);
  EXPECT_THROW((void)(Polynomial(1000) * Polynomial(n)).evaluate({{n, std::int64_t{1} << 60}}), UserError);
}

}  // namespace
}  // namespace kasen
