// Generated graphs: what their distribution says, and that both forms of a file are the same graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/communities.h"
#include "datasets/edge_file.h"
#include "datasets/kinds.h"
#include "datasets/rmat.h"
#include "datasets/shapes.h"
#include "datasets/small_world.h"
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
  EXPECT_EQ(all(star_edges(2)), (std::vector<std::uint64_t>{1, 2, 3, 1UL << 32U, 2UL << 32U, 3UL << 32U}));
  EXPECT_EQ(star_edges(0).count(), 0);
  EXPECT_THROW((void)star_edges(-1), UserError);
}

TEST(Grid, NeighboursDifferInOnePlaceByOne) {
  for (const int scale : {1, 2, 5, 8}) {
    const std::vector<std::uint64_t> edges = all(grid_edges(scale));
    EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), std::less_equal<>()));
    const std::int64_t columns = 1L << (scale + 1) / 2, rows = 1L << scale / 2;
    EXPECT_EQ(static_cast<std::int64_t>(edges.size()), 2 * (rows * (columns - 1) + columns * (rows - 1)));
    for (const std::uint64_t edge : edges) {
      const auto from = static_cast<std::int64_t>(edge >> 32U), to = static_cast<std::int64_t>(edge & 0xffffffffU);
      ASSERT_EQ(std::abs(from / columns - to / columns) + std::abs(from % columns - to % columns), 1);
    }
  }
  EXPECT_THROW((void)grid_edges(32), UserError);
}

TEST(SmallWorld, ARingSomeOfWhoseLinksLeadAnywhere) {
  constexpr std::int64_t vertices = 1 << 12, links = 4;
  const auto made = [](double rewired, std::uint64_t seed = 1) {
    return all(small_world_edges({.scale = 12, .edges = 2 * links * vertices + 5, .seed = seed, .rewired = rewired}));
  };
  const auto distance = [](std::uint64_t edge) {
    const auto apart = static_cast<std::int64_t>((edge >> 32U) - (edge & 0xffffffffU)) & (vertices - 1);
    return std::min(apart, vertices - apart);
  };
  for (const std::uint64_t edge : made(0)) ASSERT_LE(distance(edge), links);
  EXPECT_EQ(static_cast<std::int64_t>(made(0).size()), 2 * links * vertices);
  const std::vector<std::uint64_t> edges = made(0.1);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), std::less_equal<>()));
  const auto far =
      std::count_if(edges.begin(), edges.end(), [&](std::uint64_t edge) { return distance(edge) > links; });
  const double expected = 0.1 * 2 * links * vertices;
  EXPECT_NEAR(static_cast<double>(far), expected, 5 * std::sqrt(2 * expected)) << "both directions of a link";
  for (const std::uint64_t edge : edges) {
    ASSERT_NE(edge >> 32U, edge & 0xffffffffU);
    ASSERT_TRUE(std::binary_search(edges.begin(), edges.end(), edge << 32U | edge >> 32U)) << "either way";
  }
  EXPECT_NE(made(0.1), made(0.1, 2));
  EXPECT_EQ(made(0, 1), made(0, 2));
  EXPECT_THROW((void)made(1.5), UserError);
  EXPECT_THROW((void)small_world_edges({.scale = 4, .edges = 16}), UserError) << "no link for each vertex";
  EXPECT_THROW((void)small_world_edges({.scale = 4, .edges = 256}), UserError) << "more than a ring has";
}

TEST(Communities, HubsAndEdgesThatStay) {
  const auto made = [](double leaving, std::uint64_t seed = 1) {
    return all(community_edges({.scale = 14, .edges = 160'000, .seed = seed, .leaving = leaving}));
  };
  const std::vector<std::uint64_t> edges = made(0.2);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(), std::less_equal<>()));
  EXPECT_GT(edges.size(), 80'000U);
  EXPECT_LE(edges.size(), 160'000U);
  // Twice as many links in: about 2^(-4/3) times as many vertices, over two doublings. Small communities have no room
  // for hubs, so all edges may leave.
  std::vector<std::int64_t> in(1U << 14U), at_least(3);
  for (const std::uint64_t edge : made(1)) ++in[edge & 0xffffffffU];
  const std::array<std::int64_t, 3> from{16, 32, 64};
  for (std::size_t k = 0; k < from.size(); ++k) {
    at_least[k] = std::count_if(in.begin(), in.end(), [&](std::int64_t links) { return links >= from[k]; });
  }
  EXPECT_GT(at_least[2], 50);
  EXPECT_NEAR(std::log2(static_cast<double>(at_least[0]) / static_cast<double>(at_least[2])), 8.0 / 3, 0.8);
  // Without edges that leave, a vertex and its targets are of one run of at most a sixteenth of the vertices.
  std::int64_t far = 0;
  for (const std::uint64_t edge : made(0)) {
    far += std::abs(static_cast<std::int64_t>(edge >> 32U) - static_cast<std::int64_t>(edge & 0xffffffffU)) > 1024;
  }
  EXPECT_EQ(far, 0);
  EXPECT_EQ(made(0.2), made(0.2));
  EXPECT_NE(made(0.2), made(0.2, 2));
  EXPECT_THROW((void)made(-0.1), UserError);
}

TEST(GraphKinds, EachMakesItsGraphOrRefusesTheScale) {
  EXPECT_EQ(graph_kind_names(), "rmat, uniform, small-world, communities, grid and star");
  EXPECT_EQ(find_graph_kind("ring"), nullptr);
  for (const GraphKind& kind : graph_kinds()) {
    EXPECT_EQ(find_graph_kind(kind.name), &kind);
    const std::vector<std::uint64_t> edges = all(kind.make({.scale = 8}));
    ASSERT_FALSE(edges.empty()) << kind.name;
    EXPECT_LT(edges.back() >> 32U, 256U);
    EXPECT_EQ(edges == all(kind.make({.scale = 8, .seed = 2})), !kind.drawn) << kind.name;
    EXPECT_THROW((void)kind.make({.scale = kind.least_scale - 1}), UserError) << kind.name;
    EXPECT_THROW((void)kind.make({.scale = 32}), UserError) << kind.name;
  }
}

TEST(Uniform, EveryVertexAlike) {
  const std::vector<std::uint64_t> edges = all(find_graph_kind("uniform")->make({.scale = 10, .edges = 102'400}));
  std::vector<std::int64_t> out(1024), in(1024);
  for (const std::uint64_t edge : edges) ++out[edge >> 32U], ++in[edge & 0xffffffffU];
  for (const auto* degrees : {&out, &in}) {
    const auto [least, most] = std::minmax_element(degrees->begin(), degrees->end());
    EXPECT_GT(*least, 45);
    EXPECT_LT(*most, 155);
  }
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
