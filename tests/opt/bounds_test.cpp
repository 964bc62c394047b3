// The communication lower bounds of dense products and reductions, and how near plans over meshes come to it.
#include "libopt/report/bounds.h"

#include <gtest/gtest.h>

#include <array>

#include "libcore/analysis/boxes.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

// By hand, from the cases of the theorem: one axis nk (1 - 1/P); two axes 2k sqrt(mn/P) - (m + n) k/P; three axes, of a
// cube, 3 (1 - 1/sqrt[3](P)) n^2 / P^(2/3).
TEST(Bounds, AreThoseOfTheTheorem) {
  EXPECT_DOUBLE_EQ(least_elements({1000, 10, 10}, 4), 75);
  EXPECT_DOUBLE_EQ(least_elements({10, 10, 1000}, 4), 75) << "in any order";
  EXPECT_DOUBLE_EQ(least_elements({1000, 10, 1000}, 4), 5000);
  EXPECT_NEAR(least_elements({100, 100, 100}, 8), 3750, 1e-6);
  EXPECT_DOUBLE_EQ(least_elements({1000, 10, 10}, 1), 0);
  EXPECT_DOUBLE_EQ(least_elements({1000, 10, 0}, 4), 0);
}

Module plan_over(const std::string& text, const std::vector<std::int64_t>& mesh, std::vector<LayoutHint> layouts) {
  OptimizeOptions options;
  options.layouts = std::move(layouts);
  for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
    options.mesh.push_back({std::string(1, static_cast<char>('a' + axis)), mesh[axis]});
  }
  TrialLawChecker laws;
  return optimize(compile(text), laws, options);
}

Sizes sizes_of(const Module& module) {
  std::vector<Part> parts;
  for (int w = 0; w < mesh_workers(module); ++w) {
    Part& part = parts.emplace_back();
    part.worker = w;
    part.workers = mesh_workers(module);
    for (const Dimension& dim : module.dims) part.dims[dim.name].size = dim.size;
  }
  return sizes_from_parts(module, parts);
}

// What a worker receives over the bound. `layouts`: of A over [N, K], B over [K, M] and C over [N, M], as letters.
using Letters = std::array<std::string, 2>;
double ratio(const std::array<int, 3>& nkm, const std::vector<std::int64_t>& mesh,
             const std::array<Letters, 3>& layouts) {
  const std::string text = "dim N = " + std::to_string(nkm[0]) + ", K = " + std::to_string(nkm[1]) +
                           ", M = " + std::to_string(nkm[2]) +
                           "\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B";
  std::vector<LayoutHint> hints;
  const char* const names[] = {"A", "B", "C"};
  const char* const dims[3][2] = {{"N", "K"}, {"K", "M"}, {"N", "M"}};
  for (std::size_t i = 0; i < 3; ++i) {
    hints.push_back({names[i], {{dims[i][0], layouts[i][0]}, {dims[i][1], layouts[i][1]}}});
  }
  const Module module = plan_over(text, mesh, hints);
  const std::vector<CommunicationBound> bounds = communication_bounds(module, sizes_of(module));
  EXPECT_EQ(bounds.size(), 1U);
  return bounds.at(0).received / bounds[0].least;
}

// Rows of A by all of B; columns of B by all of A; columns of A by rows of B; blocks of both.
TEST(Bounds, AreReachedWhereOneOrTwoAxesAreCut) {
  for (const int p : {4, 8, 16, 64}) {
    const int a = p == 8 ? 4 : p == 4 ? 2 : p == 16 ? 4 : 8, b = p / a;
    EXPECT_NEAR(ratio({6400, 40, 40}, {p}, {{{"a", ""}, {"a", ""}, {"a", ""}}}), 1, 0.05) << "tall over " << p;
    EXPECT_NEAR(ratio({40, 40, 6400}, {p}, {{{"a", ""}, {"", "a"}, {"", "a"}}}), 1, 0.05) << "wide over " << p;
    EXPECT_NEAR(ratio({64, 6400, 40}, {p}, {{{"", "a"}, {"a", ""}, {"a", ""}}}), 1, 0.05) << "flat over " << p;
    EXPECT_NEAR(ratio({400 * a, 8, 400 * b}, {a, b}, {{{"a", "b"}, {"a", "b"}, {"a", "b"}}}), 1, 0.05)
        << "outer over " << p;
  }
}

// Labels that one operand has, or the other, or both, count together.
TEST(Bounds, AreThoseOfContractions) {
  const Module module = plan_over(
      "dim I = 40, J = 6, K = 5, L = 8\ninput X : dense f64[I, J, K], Y : dense f64[K, J, L]\n"
      "C = [i in I, l in L: sum(j in J, k in K: X[i, j, k] * Y[k, j, l])]\n"
      "D = [j in J, i in I, l in L: sum(k in K: X[i, j, k] * Y[k, j, l])]\noutput C, D",
      {4}, {});
  const std::vector<CommunicationBound> bounds = communication_bounds(module, sizes_of(module));
  ASSERT_EQ(bounds.size(), 1U) << "D is a product for each index of J";
  EXPECT_DOUBLE_EQ(bounds[0].least, least_elements({40, 30, 8}, 4));
  EXPECT_GE(bounds[0].received, bounds[0].least);
}

// Columns of a matrix that is cut by rows, in a region or alone: each worker's sums go to worker 0. Lines that lie on
// one worker cost nothing, and of fewer sums than workers some must travel.
TEST(Bounds, OfReductionsAreOneElementOrNone) {
  EXPECT_EQ(least_elements_of_reduction(10, 4), 0);
  EXPECT_EQ(least_elements_of_reduction(4, 4), 0);
  EXPECT_EQ(least_elements_of_reduction(3, 4), 1);
  for (const int columns : {2, 10}) {
    const Module module =
        plan_over("dim N = 400, K local = " + std::to_string(columns) +
                      "\ninput X : dense f64[N, K]\noutput a = sum(X * X + 1, over N), b = sum(X, over K)",
                  {}, {});
    std::vector<Part> parts(4);
    for (int w = 0; w < 4; ++w) {
      Part& part = parts[static_cast<std::size_t>(w)];
      part.worker = w;
      part.workers = 4;
      part.dims["N"] = {.size = 400, .masters = IndexList::run(100 * w, 100)};
      part.dims["K"] = {.size = columns, .local = true, .masters = IndexList::run(0, columns)};
    }
    const std::vector<CommunicationBound> bounds = communication_bounds(module, sizes_from_parts(module, parts));
    ASSERT_EQ(bounds.size(), 2U);
    EXPECT_EQ(bounds[0].received, 2 * columns) << "of two workers, along the tree";
    EXPECT_EQ(bounds[0].least, columns < 4 ? 1 : 0);
    EXPECT_EQ(bounds[1].received, 0);
    EXPECT_EQ(bounds[1].least, 0);
  }
}

// A cube needs three cut axes; blocks over two give 2 n^2 (1/sqrt(P) - 1/P) for each worker.
TEST(Bounds, AreMissedByCubes) {
  const double over = ratio({960, 960, 960}, {2, 2}, {{{"a", "b"}, {"a", "b"}, {"a", "b"}}});
  EXPECT_GT(over, 1.1);
  EXPECT_LT(over, 1.15);
}

}  // namespace
}  // namespace kasen
