#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>

#include "tests/data/partition_calls.h"

namespace kasen {
namespace {

using cases::cut, cases::Edge, cases::inputs_of, cases::refusal;

std::int64_t global_of(const Part& part, const std::string& dim, const AxisSlaves& axis, std::int64_t local) {
  const auto& masters = part.dims.at(dim).masters;
  const std::int64_t n = masters.size();
  return local < n ? masters[local] : axis.slaves.at(static_cast<std::size_t>(local - n));
}

// Entries with global indices, as the parts hold them, and that every part is well formed.
std::map<Edge, double> collect(std::span<const Part> parts, const std::string& name) {
  std::map<Edge, double> all;
  for (const Part& part : parts) {
    const PartMatrix& m = part.matrices.at(name);
    const std::size_t rows = part.dims.at(m.row_dim).masters.size() + m.row_slaves.slaves.size();
    EXPECT_EQ(m.row_pointers.size(), rows + 1);
    EXPECT_EQ(m.row_pointers.back(), static_cast<std::int64_t>(m.columns.size()));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::int64_t k = m.row_pointers[r]; k < m.row_pointers[r + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (k > m.row_pointers[r]) {
          EXPECT_LT(m.columns[at - 1], m.columns[at]);
        }
        const Edge entry{global_of(part, m.row_dim, m.row_slaves, static_cast<std::int64_t>(r)),
                         global_of(part, m.col_dim, m.col_slaves, m.columns[at])};
        const double value = m.values.count > 0 ? m.values.as<double>()[k] : 1.0;
        EXPECT_TRUE(all.emplace(entry, value).second) << "entry twice";
      }
    }
  }
  return all;
}

// Both sides of every pair of workers name the same elements in the same order.
void expect_linked(const std::vector<Part>& parts, const std::string& name, AxisSlaves PartMatrix::*side,
                   const std::string& dim) {
  for (const Part& holder : parts) {
    const AxisSlaves& axis = holder.matrices.at(name).*side;
    std::int64_t covered = 0;
    for (const PeerRange& r : axis.slave_owners) {
      EXPECT_EQ(r.begin, covered);
      EXPECT_LT(r.begin, r.end);
      EXPECT_NE(r.peer, holder.worker);
      covered = r.end;
      const Part& owner = parts.at(static_cast<std::size_t>(r.peer));
      const AxisSlaves& mirror = owner.matrices.at(name).*side;
      const auto back = std::find_if(mirror.mirror_holders.begin(), mirror.mirror_holders.end(),
                                     [&](const PeerRange& m) { return m.peer == holder.worker; });
      ASSERT_NE(back, mirror.mirror_holders.end());
      ASSERT_EQ(back->end - back->begin, r.end - r.begin);
      for (std::int64_t k = 0; k < r.end - r.begin; ++k) {
        const std::int64_t slave = axis.slaves.at(static_cast<std::size_t>(r.begin + k));
        if (k > 0) {
          EXPECT_LT(axis.slaves.at(static_cast<std::size_t>(r.begin + k - 1)), slave);
        }
        const std::int32_t master = mirror.mirrors.at(static_cast<std::size_t>(back->begin + k));
        EXPECT_EQ(owner.dims.at(dim).masters[master], slave);
      }
    }
    EXPECT_EQ(covered, static_cast<std::int64_t>(axis.slaves.size()));
  }
}

class Cut : public ::testing::TestWithParam<std::tuple<int, PartitionMethod>> {};

TEST_P(Cut, AgreesWithThePlainCountOnSquareGraphs) {
  const PartitionOptions options{.workers = std::get<0>(GetParam()), .method = std::get<1>(GetParam()), .theta = 6};
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto edges = cases::random_edges(60, 60, 100 * seed, seed);
    std::vector<DimData> dims{{.name = "N"}};
    const auto parts = cut(dims, inputs_of(cases::valued("G", "N", "N", edges)), options);
    ASSERT_EQ(dims[0].size, 60);
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(options.workers));

    const auto got = collect(parts, "G");
    EXPECT_EQ(got.size(), edges.size());
    for (const auto& [i, j] : edges) EXPECT_EQ(got.at({i, j}), static_cast<double>(1000 * i + j));
    expect_linked(parts, "G", &PartMatrix::row_slaves, "N");
    expect_linked(parts, "G", &PartMatrix::col_slaves, "N");

    const cases::Owners owners = cases::owners_in(parts, "N");
    const cases::Count want = options.method == PartitionMethod::ml ? cases::plain_count(edges, owners, owners, options)
                                                                    : cases::plain_count(edges, 60, 60, options);
    const BundleStatistics have = statistics(parts);
    EXPECT_EQ(have.dims.at(0).slaves, want.united());
    EXPECT_EQ(have.matrices.at(0).row_slaves, cases::Count::total(want.rows));
    EXPECT_EQ(have.matrices.at(0).col_slaves, cases::Count::total(want.cols));
    EXPECT_EQ(have.matrices.at(0).entries_by_worker, want.entries);
    for (std::size_t w = 0; w < parts.size(); ++w) {
      const auto& slaves = parts[w].matrices.at("G").row_slaves.slaves;
      EXPECT_EQ(std::set<std::int64_t>(slaves.begin(), slaves.end()), want.rows[w]);
    }
  }
}

TEST_P(Cut, AgreesWithThePlainCountOnOblongMatrices) {
  const PartitionOptions options{.workers = std::get<0>(GetParam()), .method = std::get<1>(GetParam()), .theta = 4};
  const auto edges = cases::random_edges(23, 41, 200, 7);
  std::vector<DimData> dims{{.name = "H"}, {.name = "W"}};
  const auto parts = cut(dims, inputs_of(cases::pattern("X", "H", "W", edges)), options);
  EXPECT_EQ(collect(parts, "X").size(), edges.size());
  const cases::Count want =
      options.method == PartitionMethod::ml
          ? cases::plain_count(edges, cases::owners_in(parts, "H"), cases::owners_in(parts, "W"), options)
          : cases::plain_count(edges, 23, 41, options);
  const BundleStatistics have = statistics(parts);
  EXPECT_EQ(have.dims.at(0).slaves, cases::Count::total(want.rows));
  EXPECT_EQ(have.dims.at(1).slaves, cases::Count::total(want.cols));
  EXPECT_EQ(have.matrices.at(0).entries_by_worker, want.entries);
}

TEST_P(Cut, IsTheSameEveryTime) {
  const PartitionOptions options{.workers = std::get<0>(GetParam()), .method = std::get<1>(GetParam()), .theta = 6};
  const auto edges = cases::random_edges(500, 500, 4000, 3);
  std::vector<DimData> dims{{.name = "N"}}, again{{.name = "N"}};
  const auto a = cut(dims, inputs_of(cases::pattern("G", "N", "N", edges)), options);
  const auto b = cut(again, inputs_of(cases::pattern("G", "N", "N", edges)), options);
  for (std::size_t w = 0; w < a.size(); ++w) {
    EXPECT_EQ(a[w].matrices.at("G").columns, b[w].matrices.at("G").columns);
    EXPECT_EQ(a[w].matrices.at("G").row_slaves.mirrors, b[w].matrices.at("G").row_slaves.mirrors);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, Cut,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 16),
                                            ::testing::Values(PartitionMethod::block, PartitionMethod::hybrid_cut,
                                                              PartitionMethod::ml)));

TEST(Partition, BlocksAreRunsOfTheCeiling) {
  std::vector<DimData> dims{{.name = "N"}};
  const auto parts = cut(dims, inputs_of(cases::table("x", {"N"}, ElementType::of(Scalar::f64), 10, 1)),
                         {.workers = 4, .method = PartitionMethod::hybrid_cut});
  const std::vector<std::vector<std::int64_t>> want{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9}};
  for (std::size_t w = 0; w < 4; ++w) {
    EXPECT_EQ(parts[w].dims.at("N").masters.listed(),
              want[w]);  // no sparse matrix uses N: blocks under hybrid-cut, too
    EXPECT_EQ(parts[w].arrays.at("x").data.as<double>()[0], static_cast<double>(want[w][0]) + 0.5);
  }
}

TEST(Partition, MatricesOverTheSameDimensionsAreCutAlike) {
  auto one = cases::random_edges(40, 40, 300, 1), two = cases::random_edges(40, 40, 50, 2);
  std::vector<DimData> dims{{.name = "N"}};
  const PartitionOptions options{.workers = 4, .theta = 12};
  const auto parts =
      cut(dims, inputs_of(cases::pattern("A", "N", "N", one), cases::pattern("B", "N", "N", two)), options);
  std::map<Edge, int> holder;
  for (const Part& part : parts)
    for (const auto& [edge, value] : collect({&part, 1}, "A")) holder[edge] = part.worker;
  std::size_t shared = 0;
  for (const Part& part : parts) {
    for (const auto& [edge, value] : collect({&part, 1}, "B")) {
      if (!holder.contains(edge)) continue;
      ++shared;
      EXPECT_EQ(holder[edge], part.worker);
    }
  }
  EXPECT_GT(shared, 5U);
}

// Entries that stand by row, in a chunk for every 17 rows, of which the first one's stand backwards.
EntryList chunks_of_rows(const EntryList& all) {
  const std::vector<std::int64_t> rows = all.rows(), cols = all.cols();
  const Array values = all.values();
  EntryList made(all.element);
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end] / 17 == rows[begin] / 17) ++end;
    std::vector<std::int64_t> r, c;
    Array v(all.element, static_cast<std::int64_t>(end - begin));
    const auto first = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), rows[begin]));
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t from = k < begin + first ? begin + (begin + first - 1 - k) : k;
      v.as<double>()[r.size()] = values.as<double>()[from];
      r.push_back(rows[from]);
      c.push_back(cols[from]);
    }
    made.chunks.push_back({PackedIds(std::span(r)), PackedIds(std::span(c)), PackedValues(v, 0, v.count)});
  }
  return made;
}

// As LIBSVM gives them. They come out as entries in no order do.
TEST(Partition, ChunksOfWholeRowsComeOutAsAnyOthers) {
  std::vector<Edge> edges = cases::random_edges(3'000, 300, 30'000, 7);
  std::erase_if(edges, [](const Edge& edge) { return edge.first % 40 == 3 || edge.first > 2'800; });  // empty rows
  std::vector<Part> made[2];
  for (std::vector<Part>& parts : made) {
    InputData input = cases::valued("X", "H", "W", edges);
    if (&parts == &made[1]) input.matrix.entries = chunks_of_rows(input.matrix.entries);
    input.matrix.row_count = 3'000;
    input.matrix.declared = true;
    std::vector<DimData> dims{{.name = "H"}, {.name = "W"}};
    parts = cut(dims, inputs_of(std::move(input)), {.workers = 1});
    std::sort(edges.begin(), edges.end());
  }
  const PartMatrix& any = made[0][0].matrices.at("X");
  const PartMatrix& ordered = made[1][0].matrices.at("X");
  ASSERT_EQ(ordered.columns.size(), edges.size());
  EXPECT_EQ(any.row_pointers, ordered.row_pointers);
  EXPECT_EQ(any.columns, ordered.columns);
  for (std::int64_t k = 0; k < any.values.count; ++k)
    ASSERT_EQ(any.values.as<double>()[k], ordered.values.as<double>()[k]) << k;
}

TEST(Partition, NamesWithGapsAreRelabelledInOrder) {
  std::vector<DimData> dims{{.name = "N"}};
  const auto parts = cut(dims, inputs_of(cases::pattern("G", "N", "N", {{1000, 7}, {7, 10}})),
                         {.workers = 2, .method = PartitionMethod::block});
  EXPECT_EQ(dims[0].size, 3);
  EXPECT_EQ(dims[0].original, (std::vector<std::int64_t>{7, 10, 1000}));
  EXPECT_EQ(parts[0].dims.at("N").original, (std::vector<std::int64_t>{7, 10}));
  EXPECT_EQ(parts[1].dims.at("N").original, (std::vector<std::int64_t>{1000}));
  const auto entries = collect(parts, "G");
  EXPECT_TRUE(entries.contains({2, 0}));
  EXPECT_TRUE(entries.contains({0, 1}));
}

TEST(Partition, NamesSpreadThinlyAreRelabelledToo) {
  const std::int64_t far = std::int64_t{1} << 60;
  std::vector<DimData> dims{{.name = "N"}};
  const auto parts = cut(dims, inputs_of(cases::pattern("G", "N", "N", {{far, 3}, {3, 5}})), {.workers = 1});
  EXPECT_EQ(dims[0].original, (std::vector<std::int64_t>{3, 5, far}));
  EXPECT_TRUE(collect(parts, "G").contains({2, 0}));
}

TEST(Partition, DeclaredAndGivenSizesAreKept) {
  InputData declared = cases::pattern("G", "N", "N", {{0, 5}, {3, 3}});
  declared.matrix.declared = true;
  declared.matrix.row_count = declared.matrix.col_count = 8;
  std::vector<DimData> dims{{.name = "N"}};
  (void)cut(dims, inputs_of(std::move(declared)), {.workers = 2});
  EXPECT_EQ(dims[0].size, 8);
  EXPECT_TRUE(dims[0].original.empty());

  std::vector<DimData> given{{.name = "N", .size = 20}};
  (void)cut(given, inputs_of(cases::pattern("G", "N", "N", {{0, 5}, {3, 3}})), {.workers = 2});
  EXPECT_EQ(given[0].size, 20);
  EXPECT_TRUE(given[0].original.empty());
}

TEST(Partition, LocalDimensionsHaveNoSlaves) {
  const auto edges = cases::random_edges(30, 4, 60, 5);
  std::vector<DimData> dims{{.name = "H"}, {.name = "K", .local = true}};
  const auto parts = cut(dims, inputs_of(cases::pattern("X", "H", "K", edges)), {.workers = 3, .theta = 1});
  EXPECT_EQ(collect(parts, "X").size(), edges.size());
  for (const Part& part : parts) {
    EXPECT_TRUE(part.matrices.at("X").row_slaves.slaves.empty());
    EXPECT_TRUE(part.matrices.at("X").col_slaves.slaves.empty());
  }
}

TEST(Partition, AnEmptyGraphHasEmptyParts) {
  std::vector<DimData> dims{{.name = "N"}};
  const auto parts = cut(dims, inputs_of(cases::pattern("G", "N", "N", {})), {.workers = 3});
  EXPECT_EQ(dims[0].size, 0);
  for (const Part& part : parts) EXPECT_EQ(part.matrices.at("G").row_pointers.size(), 1U);
}

// Matrix Market says both sizes; a program that has one dimension for both means a square matrix, or gives its size.
TEST(Partition, RefusesRectanglesOverOneDimension) {
  const auto matrix = [](std::int64_t rows, std::int64_t cols) {
    InputData input = cases::pattern("G", "N", "N", {{0, 1}, {4, 4}});
    input.matrix.declared = input.matrix.shaped = true;
    input.matrix.row_count = rows;
    input.matrix.col_count = cols;
    return input;
  };
  for (const auto& [rows, cols] : {std::pair{7, 5}, {5, 7}}) {
    const std::string reported = refusal({{.name = "N"}}, inputs_of(matrix(rows, cols)));
    EXPECT_NE(reported.find(fmt::format("'G' has {} rows and {} columns, and is over N twice", rows, cols)),
              std::string::npos);
    EXPECT_NE(reported.find("--dim N=7"), std::string::npos);
    std::vector<DimData> given{{.name = "N", .size = 7}};
    EXPECT_EQ(cut(given, inputs_of(matrix(rows, cols)), {.workers = 1}).size(), 1U);
  }
  std::vector<DimData> dims{{.name = "N"}};
  (void)cut(dims, inputs_of(matrix(7, 7)), {.workers = 1});
  EXPECT_EQ(dims[0].size, 7);
}

TEST(Partition, RefusesWhatDoesNotFit) {
  const auto scalar = ElementType::of(Scalar::f64);
  EXPECT_NE(
      refusal({{.name = "N", .size = 3}}, inputs_of(cases::pattern("G", "N", "N", {{0, 3}}))).find("names index 3"),
      std::string::npos);
  EXPECT_NE(
      refusal({{.name = "N"}, {.name = "M"}}, inputs_of(cases::table("x", {"N"}, scalar, 3, 1))).find("--dim M=SIZE"),
      std::string::npos);
  EXPECT_NE(refusal({{.name = "N"}},
                    inputs_of(cases::table("x", {"N"}, scalar, 3, 1), cases::table("y", {"N"}, scalar, 4, 1)))
                .find("'x' has 3 rows"),
            std::string::npos);
  InputData samples = cases::pattern("X", "N", "F", {{0, 1}, {1, 0}});
  samples.matrix.declared = true;
  samples.matrix.row_count = samples.matrix.col_count = 2;
  EXPECT_NE(refusal({{.name = "N"}, {.name = "F"}},
                    inputs_of(std::move(samples), cases::table("labels", {"N"}, scalar, 3, 1)))
                .find("'X' has 2 rows, and input 'labels' has 3"),
            std::string::npos);
  EXPECT_NE(refusal({{.name = "N"}}, inputs_of(cases::table("x", {"N"}, scalar, 3, 2))).find("2 columns"),
            std::string::npos);
  const ElementType mixed{{{Scalar::i64, no_dim, 0}, {Scalar::f64, no_dim, 0}}, true};
  EXPECT_NE(refusal({{.name = "N"}}, inputs_of(cases::table("x", {"N"}, mixed, 3, 2))).find("mix types"),
            std::string::npos);
  EXPECT_NE(refusal({{.name = "N"}}, inputs_of(cases::pattern("G", "N", "N", {{-1, 2}}))).find("negative"),
            std::string::npos);
  EXPECT_NE(refusal({{.name = "N", .size = std::int64_t{1} << 40}}, inputs_of(cases::pattern("G", "N", "N", {})),
                    ExitStatus::limit)
                .find("at most"),
            std::string::npos);
  EXPECT_NE(refusal({{.name = "K", .local = true}}, inputs_of(cases::pattern("G", "K", "K", {{0, 1}, {1, 0}})))
                .find("only local"),
            std::string::npos);
}

TEST(Partition, SaysThatIdsLookOneBased) {
  const auto scalar = ElementType::of(Scalar::f64);
  const std::vector<Edge> edges{{1, 3}, {3, 2}, {2, 1}};
  const std::string beside =
      refusal({{.name = "N"}}, inputs_of(cases::pattern("G", "N", "N", edges), cases::table("x", {"N"}, scalar, 3, 1)));
  for (const char* says :
       {"dimension N look 1-based", "from 1 to 3", "'x' has 3 rows, of indices 0 to 2", "subtract 1"})
    EXPECT_NE(beside.find(says), std::string::npos) << beside;
  const std::string given = refusal({{.name = "N", .size = 3}}, inputs_of(cases::pattern("G", "N", "N", edges)));
  EXPECT_NE(given.find("look 1-based"), std::string::npos) << given;
  // One more row than the largest id, or an id 0, and nothing says so.
  EXPECT_EQ(
      refusal({{.name = "N"}}, inputs_of(cases::pattern("G", "N", "N", edges), cases::table("x", {"N"}, scalar, 4, 1))),
      "accepted");
  const std::vector<Edge> from_zero{{0, 3}, {3, 2}};
  EXPECT_EQ(refusal({{.name = "N"}},
                    inputs_of(cases::pattern("G", "N", "N", from_zero), cases::table("x", {"N"}, scalar, 3, 1)))
                .find("1-based"),
            std::string::npos);
}

TEST(Partition, StatisticsTextNamesBothProducts) {
  std::vector<DimData> dims{{.name = "N"}};
  const auto parts =
      cut(dims, inputs_of(cases::pattern("G", "N", "N", cases::random_edges(30, 30, 90, 9))), {.workers = 3});
  const BundleStatistics s = statistics(parts);
  const std::string text = statistics_text(s);
  EXPECT_NE(text.find("MxV:  S_scatter = " + std::to_string(s.matrices[0].row_slaves)), std::string::npos);
  EXPECT_NE(text.find("MxVT: S_scatter = " + std::to_string(s.matrices[0].col_slaves)), std::string::npos);
  EXPECT_NE(text.find("S = " + std::to_string(s.dims[0].slaves) + " slaves"), std::string::npos);
}

}  // namespace
}  // namespace kasen
