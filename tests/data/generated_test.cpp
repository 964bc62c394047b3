// Generated graphs: what their distribution says, and that both forms of a file are the same graph.
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/edge_file.h"
#include "datasets/rmat.h"
#include "tests/data/reader_cases.h"
#include "tests/support/folder.h"

namespace kasen::testing {
namespace {

std::vector<std::uint64_t> all(const EdgeRuns& edges) {
  std::vector<std::uint64_t> list;
  for (const auto& run : edges.runs) list.insert(list.end(), run.begin(), run.end());
  return list;
}

double factorial(int n) { return std::tgamma(n + 1.0); }

// A cell of the matrix with i, j, k, l levels in the four quadrants is drawn with a^i b^j c^k d^l.
double expected_distinct(const RmatOptions& o) {
  const double d = 1 - o.a - o.b - o.c;
  double sum = 0;
  for (int i = 0; i <= o.scale; ++i) {
    for (int j = 0; i + j <= o.scale; ++j) {
      for (int k = 0; i + j + k <= o.scale; ++k) {
        const int l = o.scale - i - j - k;
        const double cells = factorial(o.scale) / factorial(i) / factorial(j) / factorial(k) / factorial(l);
        const double p = std::pow(o.a, i) * std::pow(o.b, j) * std::pow(o.c, k) * std::pow(d, l);
        sum += cells * -std::expm1(static_cast<double>(o.edges) * std::log1p(-p));
      }
    }
  }
  return sum;
}

TEST(Rmat, DistinctSortedAndAsManyAsExpected) {
  for (const RmatOptions& options :
       {RmatOptions{.scale = 12, .edges = 50000}, RmatOptions{.scale = 14, .edges = 40000, .seed = 9},
        RmatOptions{.scale = 10, .edges = 30000, .seed = 2, .a = 0.3, .b = 0.25, .c = 0.2}}) {
    const std::vector<std::uint64_t> edges = all(rmat_edges(options));
    EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), std::less_equal<>())) << "strictly ascending";
    const double expected = expected_distinct(options);
    EXPECT_NEAR(static_cast<double>(edges.size()), expected, 5 * std::sqrt(expected));
    const std::uint64_t vertices = std::uint64_t{1} << static_cast<unsigned>(options.scale);
    for (const std::uint64_t edge : edges) ASSERT_TRUE(edge >> 32U < vertices && (edge & 0xffffffffU) < vertices);
  }
}

TEST(Rmat, AFunctionOfItsOptions) {
  const RmatOptions options{.scale = 9, .edges = 5000};
  EXPECT_EQ(all(rmat_edges(options)), all(rmat_edges(options)));
  RmatOptions other = options;
  other.seed = 2;
  EXPECT_NE(all(rmat_edges(options)), all(rmat_edges(other)));
  EXPECT_EQ(all(rmat_edges({.scale = 3, .edges = 0})).size(), 0U);
  EXPECT_EQ(all(rmat_edges({.scale = 1, .edges = 1000})).size(), 4U);
}

TEST(Rmat, RefusesWhatCannotBe) {
  for (const RmatOptions& options :
       {RmatOptions{.scale = 0}, RmatOptions{.scale = 32}, RmatOptions{.edges = -1}, RmatOptions{.a = 0.9, .b = 0.2}}) {
    EXPECT_THROW((void)rmat_edges(options), UserError);
  }
  EXPECT_THROW((void)rmat_edges({.scale = 20, .edges = std::int64_t{1} << 50}), UserError);
}

TEST(Star, EveryoneKnowsTheCentre) {
  const std::vector<std::uint64_t> edges = all(star_edges(5));
  EXPECT_EQ(edges, (std::vector<std::uint64_t>{1, 2, 3, 4, 1UL << 32U, 2UL << 32U, 3UL << 32U, 4UL << 32U}));
  EXPECT_THROW((void)star_edges(0), UserError);
}

TEST(EdgeFile, TextAndNpyAreTheSameGraph) {
  const Folder folder;
  const EdgeRuns edges = rmat_edges({.scale = 10, .edges = 20000});
  EdgeFile(folder.file("g.txt"), EdgeFormat::text).write(edges);
  EdgeFile(folder.file("g.npy"), EdgeFormat::npy).write(edges);
  const RawMatrix text = read_matrix(folder.file("g.txt"), matrix_of(Scalar::null));
  const RawMatrix npy = read_matrix(folder.file("g.npy"), matrix_of(Scalar::null));
  EXPECT_EQ(entries_of(text), entries_of(npy));
  EXPECT_EQ(static_cast<std::int64_t>(entries_of(npy).size()), edges.count());
  EXPECT_EQ(text.row_count, npy.row_count);
  EXPECT_EQ(text.col_count, npy.col_count);
  EXPECT_NE(text.digest, npy.digest);
  EXPECT_THROW(EdgeFile(folder.file("none/g.txt"), EdgeFormat::text), UserError) << "before anything is written";
  { const EdgeFile never(folder.file("never.txt"), EdgeFormat::text); }
  EXPECT_EQ(folder.entries(), 2U) << "what was not written is not there";
}

}  // namespace
}  // namespace kasen::testing
