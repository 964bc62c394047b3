#include "libcore/analysis/whole.h"

#include <gtest/gtest.h>

#include "tests/support/builder.h"

namespace kasen {
namespace {

using testing::Builder;

TEST(Whole, IsADimensionAfterTheOneThatIsCut) {
  Builder b;
  const DimId n = b.dim("N"), m = b.dim("M"), f = b.dim("F"), k = b.dim("K", true);
  b.fill("x", b.type(Scalar::f64, {n}), Word::real(1));
  b.fill("a", b.type(Scalar::f64, {k, n, k, m}), Word::real(1));
  const Module module = b.finish();
  EXPECT_FALSE(is_whole(module, n));
  EXPECT_TRUE(is_whole(module, m));
  EXPECT_FALSE(is_whole(module, f));  // no array has it
  EXPECT_FALSE(is_whole(module, k));  // local: whole without being listed
}

TEST(Whole, IsTheSecondAxisOfASquareArrayButOfNoSparseMatrix) {
  Builder b;
  const DimId n = b.dim("N"), m = b.dim("M");
  b.fill("a", b.type(Scalar::f64, {n, n}), Word::real(1));
  Type graph = b.type(Scalar::null, {m, m});
  graph.sparse = true;
  b.input("G", graph);
  const Module module = b.finish();
  EXPECT_TRUE(is_whole(module, n));
  EXPECT_FALSE(is_whole(module, m));
}

}  // namespace
}  // namespace kasen
