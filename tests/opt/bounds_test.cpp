// The communication lower bounds of dense products and reductions, and how near plans over meshes come to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "libcore/analysis/boxes.h"
#include "libopt/bounds/least.h"
#include "libopt/bounds/of_plan.h"
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

// A product as a contraction of three arrays over three labels: the form that is searched is the closed one.
TEST(Bounds, OfContractionsAreThoseOfProducts) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> size(1, 200), workers(1, 64);
  for (int trial = 0; trial < 2000; ++trial) {
    const double m = size(random), k = size(random), n = size(random);
    const int p = workers(random);
    const double least = least_of_contraction({{m, 0b101}, {k, 0b011}, {n, 0b110}}, p);
    if (m * k * n < p) continue;  // some worker has no term
    EXPECT_NEAR(least, least_elements(std::array<double, 3>{m, k, n}, p), 1e-6 * (1 + least))
        << m << ' ' << k << ' ' << n << " over " << p;
  }
}

// The faces of a box of IJKF/P tuples, by trying many of them: none has smaller ones, and some are as small.
double tried_mttkrp(const std::array<double, 4>& sizes, int p) {
  const auto [i, j, k, f] = sizes;
  constexpr int steps = 60;
  double best = 1e300;
  const auto side = [](double most, int step) { return std::pow(most, static_cast<double>(step) / steps); };
  for (int a = 0; a <= steps; ++a) {
    for (int b = 0; b <= steps; ++b) {
      for (int c = 0; c <= steps; ++c) {
        const double x = side(i, a), y = side(j, b), z = side(k, c), w = i * j * k * f / p / (x * y * z);
        if (w < 1 - 1e-9 || w > f * (1 + 1e-9)) continue;
        best = std::min(best, x * y * z + y * w + z * w + x * w);
      }
    }
  }
  return best - (i * j * k + (i + j + k) * f) / p;
}

std::vector<BoundLabel> mttkrp(double i, double j, double k, double f) {
  return {{i, 0b1001}, {j, 0b0011}, {k, 0b0101}, {f, 0b1110}};
}

TEST(Bounds, OfMttkrpAreTheLeastFacesOfBoxes) {
  for (const std::array<double, 4>& s :
       {std::array<double, 4>{32, 32, 32, 8}, {16, 64, 64, 4}, {100, 8, 50, 30}, {6, 7, 8, 500}, {4, 4, 1000, 16}}) {
    for (const int p : {2, 8, 27}) {
      const double least = least_of_contraction(mttkrp(s[0], s[1], s[2], s[3]), p), tried = tried_mttkrp(s, p);
      const double held = tried + (s[0] * s[1] * s[2] + (s[0] + s[1] + s[2]) * s[3]) / p;
      EXPECT_LE(least, tried + 1e-6 * held);
      EXPECT_GE(least, tried - 0.05 * held) << "the boxes that were tried are some percent apart";
    }
  }
  // By hand: the tensor stays, and each factor's part is F (IJK/P)^(1/3), less the shares.
  EXPECT_NEAR(least_of_contraction(mttkrp(32, 32, 32, 8), 8), 3 * 8 * 16 - 3 * 32 * 8 / 8, 1e-6);
  EXPECT_NEAR(least_of_contraction(mttkrp(16, 32, 32, 4), 4), 3 * 4 * 16 - (16 + 32 + 32) * 4 / 4, 1e-6);
}

TEST(Bounds, OfWorkWithoutSumsOverSeveralArraysAreZero) {
  EXPECT_EQ(least_of_contraction({{1000, 0b111}}, 8), 0) << "element-wise";
  EXPECT_NEAR(least_of_contraction({{1000, 0b111}, {5, 0b101}, {6, 0b011}, {7, 0b110}}, 8), 0, 1e-9)
      << "a product for each";
  EXPECT_EQ(least_of_contraction({{0, 0b101}, {5, 0b011}, {6, 0b110}}, 8), 0);
}

// By hand, from the formulas of the paper's appendix (libopt/bounds/estimates.h).
TEST(Bounds, NumsEstimatesAreThePapers) {
  const NumsCluster nodes{16, 4};  // of four workers each
  EXPECT_EQ(estimate_text(elementwise_estimate(nodes)), "16 gamma");
  EXPECT_EQ(estimate_text(sum_estimate(nodes, 10)), "15 gamma + 2 R(10) + 2 C(10)");
  const std::array<double, 3> inner{10, 1000, 10}, outer{1600, 10, 1600}, square{160, 160, 160};
  EXPECT_EQ(paper_product(inner, 16), PaperProduct::inner);
  EXPECT_EQ(paper_product(outer, 16), PaperProduct::outer);
  EXPECT_EQ(paper_product(square, 16), PaperProduct::square);
  EXPECT_EQ(paper_product({1000, 10, 10}, 16), PaperProduct::none);
  EXPECT_EQ(estimate_text(product_estimate(PaperProduct::inner, inner, nodes)), "31 gamma + 3 R(100) + 2 C(100)");
  EXPECT_EQ(estimate_text(product_estimate(PaperProduct::outer, outer, nodes)), "16 gamma + 8 C(4,000)");
  EXPECT_EQ(estimate_text(product_estimate(PaperProduct::square, square, nodes)), "10 C(1,600) + R(1,600)");
  EXPECT_EQ(estimate_text(summa_estimate(square, nodes)), "16 C(1,600) + 8 R(1,600)");
  EXPECT_EQ(estimate_text(summa_estimate(square, {16, 16})), "16 C(1,600)") << "2 sqrt(16) log2(sqrt(16))";
  MachineProfile machine;
  machine.network_latency = 1, machine.network_bandwidth = 8, machine.loop_latency = 2, machine.memory_bandwidth = 80;
  EXPECT_DOUBLE_EQ(estimate_seconds(sum_estimate(nodes, 10), 8, machine), 15 * 2 + 2 * (2 + 1) + 2 * (1 + 10));
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

// A program whose mesh and cuts the planner finds, over so many workers; what the bound's regime cuts.
struct Cell {
  const char* what;
  std::vector<std::pair<std::string, int>> sizes;
  int workers, cut;
  std::vector<std::int64_t> mesh;  // one of the best
};

constexpr const char* product_text = "input A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B";
constexpr const char* inner_text = "input X : dense f64[N, K], Y : dense f64[N, M]\noutput C = X' @ Y";
constexpr const char* outer_text = "input X : dense f64[N, K], Y : dense f64[M, K]\noutput C = X @ Y'";
constexpr const char* mttkrp_text =
    "input X : dense f64[I, J, K], B : dense f64[J, F], C : dense f64[K, F]\n"
    "output D = [i in I, f in F: sum(j in J, k in K: X[i, j, k] * B[j, f] * C[k, f])]";

Module planned(const Cell& cell) {
  std::string text = "dim ";
  for (const auto& [name, size] : cell.sizes)
    text += (text == "dim " ? "" : ", ") + name + " = " + std::to_string(size);
  OptimizeOptions options;
  options.mesh_workers = cell.workers;
  TrialLawChecker laws;
  return optimize(compile(text + '\n' + cell.what), laws, options);
}

// The same sizes by letters that a test can read: N, K, M of a product with N x K and K x M, and so on.
std::vector<std::pair<std::string, int>> nkm(int n, int k, int m) { return {{"N", n}, {"K", k}, {"M", m}}; }
std::vector<std::pair<std::string, int>> ijkf(int i, int j, int k, int f) {
  return {{"I", i}, {"J", j}, {"K", k}, {"F", f}};
}

// The case of the theorem, for a product.
int regime(const Cell& cell) {
  std::array<double, 3> s{};
  for (std::size_t i = 0; i < 3; ++i) s.at(i) = cell.sizes.at(i).second;
  std::sort(s.begin(), s.end(), std::greater<>());
  return cell.workers <= s[0] / s[1] ? 1 : cell.workers <= s[0] * s[1] / (s[2] * s[2]) ? 2 : 3;
}

// The table of docs/cost.md.
TEST(Bounds, AreReachedWithMeshesThatThePlannerFinds) {
  const std::vector<Cell> cells{
      {product_text, nkm(256, 32, 32), 2, 1, {2}},         {product_text, nkm(64, 32, 64), 4, 2, {2, 2}},
      {product_text, nkm(64, 64, 64), 8, 3, {2, 2, 2}},    {product_text, nkm(64, 128, 64), 16, 3, {2, 2, 4}},
      {inner_text, nkm(512, 16, 16), 2, 1, {2}},           {inner_text, nkm(512, 16, 16), 4, 1, {4}},
      {inner_text, nkm(64, 64, 64), 8, 3, {2, 2, 2}},      {inner_text, nkm(256, 64, 16), 16, 2, {2, 8}},
      {outer_text, nkm(128, 8, 256), 2, 1, {2}},           {outer_text, nkm(128, 8, 128), 4, 2, {2, 2}},
      {outer_text, nkm(128, 8, 256), 8, 2, {2, 4}},        {outer_text, nkm(128, 8, 128), 16, 2, {4, 4}},
      {mttkrp_text, ijkf(16, 32, 16, 4), 2, 1, {2}},       {mttkrp_text, ijkf(16, 32, 32, 4), 4, 2, {2, 2}},
      {mttkrp_text, ijkf(32, 32, 32, 8), 8, 3, {2, 2, 2}}, {mttkrp_text, ijkf(16, 64, 64, 4), 16, 2, {4, 4}}};
  for (const Cell& cell : cells) {
    SCOPED_TRACE(cell.what + std::string(" over ") + std::to_string(cell.workers));
    const Module module = planned(cell);
    const bool three = cell.what == mttkrp_text;
    if (!three) {
      EXPECT_EQ(regime(cell), cell.cut);
    }
    const std::vector<CommunicationBound> bounds = communication_bounds(module, sizes_of(module));
    ASSERT_FALSE(bounds.empty());
    const CommunicationBound& bound = bounds.back();
    EXPECT_EQ(bound.work, three ? BoundedWork::chain : BoundedWork::product);
    EXPECT_EQ(bounds.size(), three ? 3U : 1U);
    EXPECT_GT(bound.least, 0);
    EXPECT_LE(bound.received, 1.05 * bound.least);
    EXPECT_GE(bound.received, 0.999 * bound.least) << "it is a bound";
    std::vector<std::int64_t> mesh;
    for (const MeshAxis& axis : module.mesh) mesh.push_back(axis.size);
    std::sort(mesh.begin(), mesh.end());
    EXPECT_EQ(mesh, cell.mesh);
  }
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
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_NEAR(bounds[0].least, least_elements({40, 30, 8}, 4), 1e-6);
  EXPECT_GE(bounds[0].received, bounds[0].least);
  EXPECT_NEAR(bounds[1].least, 0, 1e-6) << "D is a product for each index of J";
}

// s[i] over all pairs i, j is a repeated array. It has no bound, and the product before it still has its own.
TEST(Bounds, RepeatedArraysAreNoProducts) {
  const Module module = plan_over(
      "dim N = 40, F = 8\ninput X : dense f64[N, F], s : f64[N]\nG = X @ X'\n"
      "output K = [i in N, j in N: exp(s[i] + s[j] - G[i, j])]\n",
      {4}, {});
  int repeated = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    repeated += op.code == OpCode::contract && module.type(op.operands[1]).dims.empty() ? 1 : 0;
  });
  EXPECT_EQ(repeated, 1);
  const std::vector<CommunicationBound> bounds = communication_bounds(module, sizes_of(module));
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_NEAR(bounds[0].least, least_elements({40, 8, 40}, 4), 1e-6);
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
TEST(Bounds, AreMissedByCubesOverTwoAxes) {
  const double over = ratio({960, 960, 960}, {2, 2}, {{{"a", "b"}, {"a", "b"}, {"a", "b"}}});
  EXPECT_GT(over, 1.1);
  EXPECT_LT(over, 1.15);
}

// Each worker of a 2 x 2 x 2 mesh has an eighth of each matrix, and parts of all three move. K/bc held along b is K/ac
// held along a: the same quarters of K, which are apart.
TEST(Bounds, AreReachedByCubesOverThreeAxes) {
  EXPECT_NEAR(ratio({64, 64, 64}, {2, 2, 2}, {{{"a", "bc"}, {"ac", "b"}, {"ac", "b"}}}), 1, 1e-9);
  EXPECT_NEAR(ratio({60, 120, 60}, {2, 2, 4}, {{{"a", "bc"}, {"ac", "b"}, {"a", "bc"}}}), 1, 0.05);
}

}  // namespace
}  // namespace kasen
