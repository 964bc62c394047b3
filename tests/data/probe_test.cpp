// What partition() shows before it cuts (CutLook), against the plain counting program and against the cuts themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "libcomm/data/cut/sample.h"
#include "tests/data/partition_cases.h"

namespace kasen {
namespace {

using cases::Edge;

// Looks by the quick methods and by the one that it then takes.
struct Looked {
  std::map<PartitionMethod, CutSample> samples;
  std::vector<Part> parts;
  std::int64_t entries = 0;
  bool sampled = false;
  int calls = 0;
};

Looked look_and_cut(std::vector<DimData> dims, std::vector<InputData> inputs, PartitionOptions options) {
  Looked looked;
  options.choose = [&, method = options.method](CutLook& look) {
    ++looked.calls;
    looked.entries = look.entries();
    looked.sampled = look.sampled();
    for (const auto tried : {PartitionMethod::block, PartitionMethod::hybrid_cut, method})
      looked.samples[tried] = look.cut(tried);
    return method;
  };
  looked.parts = partition(dims, std::move(inputs), options);
  return looked;
}

std::set<std::int64_t> indices_of(const SampledAxis& axis, int worker) {
  std::set<std::int64_t> found;
  for (const SampledSlave& slave : axis.slaves)
    if (slave.worker == worker) found.insert(slave.index);
  return found;
}

void expect_exact(const CutSample& sample, const cases::Count& want) {
  EXPECT_EQ(sample.entries.at("G"), want.entries);
  ASSERT_EQ(sample.axes.size(), 2U);
  for (int w = 0; w < sample.workers; ++w) {
    EXPECT_EQ(indices_of(sample.axes[0], w), want.rows[static_cast<std::size_t>(w)]);
    EXPECT_EQ(indices_of(sample.axes[1], w), want.cols[static_cast<std::size_t>(w)]);
  }
}

double estimate(const CutSample& sample, std::size_t axis) {
  const SampledAxis& of = sample.axes.at(axis);
  double sum = 0;
  for (const SampledSlave& slave : of.slaves) {
    const bool always = sample.certain.at(of.dim).at(static_cast<std::size_t>(slave.index));
    sum += always ? 1 : 1 / sample.fraction_of(of.dim);
  }
  return sum;
}

TEST(CutProbe, SmallDataAreSeenWhole) {
  const std::vector<Edge> edges = cases::random_edges(700, 700, 5000, 3);
  for (const int workers : {2, 5}) {
    for (const auto& row : partition_methods) {
      const PartitionOptions options{.workers = workers, .method = row.second, .theta = 12};
      const auto inputs = [&] {
        std::vector<InputData> made;
        made.push_back(cases::pattern("G", "N", "N", edges));
        return made;
      };
      const Looked looked = look_and_cut({{.name = "N"}}, inputs(), options);
      EXPECT_EQ(looked.calls, 1);
      EXPECT_EQ(looked.entries, std::ssize(edges));
      EXPECT_FALSE(looked.sampled);
      for (const auto method : {PartitionMethod::block, PartitionMethod::hybrid_cut}) {
        PartitionOptions other = options;
        other.method = method;
        expect_exact(looked.samples.at(method), cases::plain_count(edges, 700, 700, other));
      }
      std::vector<DimData> dims{{.name = "N"}};
      const std::vector<Part> want = partition(dims, inputs(), options);
      EXPECT_EQ(statistics(looked.parts), statistics(want)) << row.first;
      for (std::size_t w = 0; w < want.size(); ++w) {
        EXPECT_EQ(looked.parts[w].matrices.at("G").columns, want[w].matrices.at("G").columns);
        EXPECT_EQ(looked.parts[w].dims.at("N").masters, want[w].dims.at("N").masters);
      }
      if (row.second != PartitionMethod::ml) continue;
      const cases::Owners owners = cases::owners_in(want, "N");
      expect_exact(looked.samples.at(PartitionMethod::ml), cases::plain_count(edges, owners, owners, options));
    }
  }
}

// Several inputs of one pair of dimensions are cut by their columns together; local dimensions have no ghosts.
TEST(CutProbe, SeesInputsOfAllShapesAsTheSamplerDoes) {
  const auto inputs = [] {
    std::vector<InputData> made;
    made.push_back(cases::valued("X", "H", "W", cases::random_edges(300, 70, 900, 1)));
    made.push_back(cases::pattern("Y", "H", "W", cases::random_edges(300, 70, 700, 2)));
    made.push_back(cases::pattern("Z", "H", "L", cases::random_edges(300, 9, 700, 4)));
    made.push_back(cases::table("t", {"H", "W"}, ElementType::of(Scalar::f64), 300, 70));
    return made;
  };
  const std::vector<DimData> dims{{.name = "H"}, {.name = "W"}, {.name = "L", .local = true}};
  const Looked looked = look_and_cut(dims, inputs(), {.workers = 6, .method = PartitionMethod::ml, .theta = 15});
  EXPECT_EQ(looked.samples.size(), 3U);
  CutSampler sampler(dims, inputs(), 1, true);
  for (const auto& [method, have] : looked.samples) {
    const CutSample want = sampler.cut({.workers = 6, .method = method, .theta = 15});
    EXPECT_EQ(have.sizes, want.sizes);
    EXPECT_EQ(have.masters, want.masters);
    EXPECT_EQ(have.entries, want.entries);
    ASSERT_EQ(have.axes.size(), want.axes.size());
    for (std::size_t a = 0; a < have.axes.size(); ++a) {
      EXPECT_EQ(have.axes[a].dim, want.axes[a].dim);
      EXPECT_EQ(have.axes[a].slaves, want.axes[a].slaves) << method_name(method) << ' ' << a;
    }
  }
}

TEST(CutProbe, LargeDataAreSampledAndLoadsAreExact) {
  const std::int64_t size = 60000;
  const std::vector<Edge> edges = cases::random_edges(size, size, 500000, 7);
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", edges));
  const Looked looked = look_and_cut({{.name = "N"}}, std::move(inputs), {.workers = 4, .theta = 100});
  EXPECT_TRUE(looked.sampled);
  for (const auto method : {PartitionMethod::block, PartitionMethod::hybrid_cut}) {
    const CutSample& sample = looked.samples.at(method);
    EXPECT_LT(sample.fraction_of("N"), 0.5);
    const cases::Count want = cases::plain_count(edges, size, size, {.workers = 4, .method = method, .theta = 100});
    EXPECT_EQ(sample.entries.at("G"), want.entries) << method_name(method);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto all = static_cast<double>(cases::Count::total(axis == 0 ? want.rows : want.cols));
      const double error = std::sqrt(3 * all / sample.fraction_of("N"));  // each index has at most three ghosts
      EXPECT_NEAR(estimate(sample, axis), all, 3 * error) << method_name(method);
    }
  }
}

// Of a column with very many entries a part suffices to see who needs it. Few columns are all seen.
TEST(CutProbe, FewHeavyColumnsAreAllSeen) {
  const std::int64_t rows = 20000, cols = 50;
  std::vector<Edge> edges;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i % 3; j < cols; j += 3) edges.emplace_back(i, j);
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "H", "W", edges));
  const Looked looked = look_and_cut({{.name = "H"}, {.name = "W"}}, std::move(inputs), {.workers = 7, .theta = 100});
  EXPECT_TRUE(looked.sampled);
  for (const auto method : {PartitionMethod::block, PartitionMethod::hybrid_cut}) {
    const CutSample& sample = looked.samples.at(method);
    const cases::Count want = cases::plain_count(edges, rows, cols, {.workers = 7, .method = method, .theta = 100});
    EXPECT_EQ(sample.entries.at("G"), want.entries);
    for (int w = 0; w < 7; ++w) EXPECT_EQ(indices_of(sample.axes[1], w), want.cols[static_cast<std::size_t>(w)]);
  }
}

TEST(CutProbe, NobodyIsAskedWhereMethodsAreAlike) {
  std::vector<InputData> alone, local;
  alone.push_back(cases::pattern("G", "N", "N", {{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(look_and_cut({{.name = "N"}}, std::move(alone), {.workers = 1}).calls, 0);
  local.push_back(cases::pattern("X", "N", "K", {{0, 1}, {1, 0}, {2, 0}}));
  EXPECT_EQ(look_and_cut({{.name = "N"}, {.name = "K", .local = true}}, std::move(local), {.workers = 2}).calls, 0);
}

}  // namespace
}  // namespace kasen
