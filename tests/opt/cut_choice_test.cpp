// --method auto's choice: by bytes and by balance, over real cuts of graphs made for one method or the other.
#include "libopt/cuts/cut_choice.h"

#include <gtest/gtest.h>

#include "libcomm/data/cut/partition.h"
#include "libcomm/data/cut/sample.h"
#include "libcore/lang/lang.h"
#include "libopt/cost/sizes_sampled.h"
#include "libopt/cuts/methods.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/imbalance.h"
#include "libopt/time/times.h"
#include "tests/data/partition_cases.h"
#include "tests/opt/law_support.h"

namespace kasen {
namespace {

using cases::Edge;

Module plan_of(const std::string& body) {
  TrialLawChecker laws;
  return optimize(compile_program("dim N\ninput G : null[N, N]\nx : f64[N] = 1\n" + body + "output x\n", "p.ks", {}),
                  laws, {});
}

const std::string iterations =
    "change = 1.0\nwhile change > 0.5 likely expect 30 {\n  y = G' @ x\n  change = sum(abs(x - y))\n"
    "  x = y\n}\n";

std::vector<Edge> banded(std::int64_t size) {
  std::vector<Edge> edges;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t d = 0; d < 5 && i + d < size; ++d) edges.emplace_back(i, i + d);
  return edges;
}

// Many small groups, each with entries among itself; its members' ids lie far apart.
std::vector<Edge> groups(std::int64_t size) {
  std::vector<Edge> edges;
  const std::int64_t members = 20, count = size / members;
  for (std::int64_t g = 0; g < count; ++g)
    for (std::int64_t a = 0; a < members; ++a)
      for (std::int64_t b = 1; b < 6; ++b) edges.emplace_back(a * count + g, (a + b) % members * count + g);
  return edges;
}

// The first rows hold nearly all entries.
std::vector<Edge> heavy_rows(std::int64_t size) {
  std::vector<Edge> edges;
  for (std::int64_t i = 0; i < size / 20; ++i)
    for (std::int64_t k = 0; k < 100; ++k) edges.emplace_back(i, (i * 37 + k * 11) % size);
  return edges;
}

std::vector<CutCandidate> candidates_of(const Module& plan, const std::vector<Edge>& edges, std::int64_t size,
                                        bool with_ml) {
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", edges));
  const CutSampler sampler({{.name = "N", .size = size}}, std::move(inputs), 1);
  std::vector<CutCandidate> candidates;
  for (const auto& [name, method] : partition_methods) {
    if (method == PartitionMethod::ml && !with_ml) continue;
    candidates.push_back(
        {std::string(name),
         sampled_sizes(plan, sampler.cut({.workers = 8, .method = method, .theta = 100}), "the test", true).estimate});
  }
  return candidates;
}

CutChoice choose(const Module& plan, const std::vector<Edge>& edges, std::int64_t size, bool with_ml = true) {
  return choose_cut(plan, candidates_of(plan, edges, size, with_ml), {});
}

std::string name_of(const CutChoice& choice) { return std::string(partition_methods.at(choice.best).first); }

TEST(CutChoice, TakesBlocksOfABand) {
  const CutChoice choice = choose(plan_of(iterations), banded(20000), 20000);
  EXPECT_EQ(name_of(choice), "block") << choice.why;
}

TEST(CutChoice, TakesMlForGroups) {
  const CutChoice choice = choose(plan_of(iterations), groups(40000), 40000);
  EXPECT_EQ(name_of(choice), "ml") << choice.why;
  for (const char* part :
       {"block sends ", "hybrid-cut sends ", "ml sends ", " bytes", "imbalance 1.", "predicted time", "line 5"})
    EXPECT_NE(choice.why.find(part), std::string::npos) << choice.why;
}

TEST(CutChoice, TakesHybridCutWhereRowsAreHeavy) {
  const CutChoice choice = choose(plan_of(iterations), heavy_rows(40000), 40000, false);
  EXPECT_EQ(name_of(choice), "hybrid-cut") << choice.why;
}

TEST(CutChoice, WorksWithoutLoopsProductsOrKnownTurns) {
  const CutChoice once = choose(plan_of("x = G' @ x\n"), groups(40000), 40000);
  EXPECT_EQ(name_of(once), "ml") << once.why;
  EXPECT_NE(once.why.find("network bytes and predicted time of the program"), std::string::npos) << once.why;
  const CutChoice none = choose(plan_of("x = x + 1.0\n"), groups(40000), 40000);
  EXPECT_EQ(name_of(none), "block") << none.why;  // nothing is sent: the first of equals
  const CutChoice unknown =
      choose(plan_of("change = 1.0\nwhile change > 0.5 {\n  y = G' @ x\n  change = sum(abs(x - y))\n  x = y\n}\n"),
             groups(40000), 40000);
  EXPECT_EQ(name_of(unknown), "ml") << unknown.why;
}

// `measure --method all` tells the very times by which the choice is made, and marks the best.
TEST(CutChoice, IsByTheTimesThatAreTold) {
  const Module plan = plan_of(iterations);
  for (const auto& edges : {heavy_rows(40000), groups(40000), banded(20000)}) {
    const std::vector<CutCandidate> candidates = candidates_of(plan, edges, 40000, false);
    const CutChoice choice = choose_cut(plan, candidates, {});
    std::vector<ScalingPoint> points;
    for (const CutCandidate& c : candidates) points.push_back({c.sizes, {}, c.name});
    const std::string table = methods_text(plan, points, {});
    double least = *choice.times[0].seconds;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double seconds = *choice.times[i].seconds;
      EXPECT_NE(choice.why.find(", " + duration_text(seconds) + ','), std::string::npos) << choice.why;
      EXPECT_NE(table.find(duration_text(seconds)), std::string::npos) << table;
      least = std::min(least, seconds);
    }
    EXPECT_LE(*choice.times[choice.best].seconds, 1.02 * least) << choice.why;
    EXPECT_NE(table.find(duration_text(least) + "  best"), std::string::npos) << table;
  }
}

// The time is that of the balanced cut, but for the slowest worker's work and the busiest one's bytes.
TEST(CutChoice, TimesHaveBothImbalances) {
  const Module plan = plan_of(iterations);
  for (const auto& edges : {heavy_rows(40000), groups(40000)}) {
    for (const CutCandidate& c : candidates_of(plan, edges, 40000, true)) {
      Sizes even = c.sizes;
      even.by_worker.clear();
      const PredictedTime mean = predicted_times(plan, &even, {}).iterations.at(0).value();
      const CutTime cut = cut_time(plan, c.sizes, {});
      ASSERT_TRUE(cut.iteration && cut.most && cut.bytes);
      EXPECT_NEAR(cut.iteration->memory, mean.memory * cut.imbalance, 1e-9 * cut.iteration->memory) << c.name;
      EXPECT_EQ(cut.imbalance, std::max(cut.of_entries, cut.of_indices));
      const double share = static_cast<double>(*cut.most) * 8 / static_cast<double>(*cut.bytes);
      EXPECT_GE(share, 1);
      EXPECT_NEAR(cut.iteration->network, mean.network * share, 1e-9 * mean.network) << c.name;
    }
  }
}

TEST(CutChoice, APerfectCutSavesAllThatCanBeSaved) {
  const Module plan = plan_of(iterations);
  const CutChoice band = choose(plan, banded(20000), 20000), heavy = choose(plan, heavy_rows(40000), 40000, false);
  EXPECT_GT(band.most_saved, 0);
  EXPECT_LT(band.most_saved, 0.05 * *band.times[band.best].seconds);
  EXPECT_GT(heavy.most_saved, band.most_saved);
  EXPECT_LT(heavy.most_saved, *heavy.times[heavy.best].seconds);
}

TEST(CutChoice, ImbalanceIsThatOfTheSlowestProcess) {
  const Module plan = plan_of(iterations);
  const Sizes block = candidates_of(plan, heavy_rows(40000), 40000, false).front().sizes;
  EXPECT_NEAR(imbalance(plan, block, 8), 8, 1e-9);  // the first worker has all of the entries
  EXPECT_NEAR(imbalance(plan, block, 2), 2, 1e-9);
  EXPECT_EQ(imbalance(plan, block, 1), 1);
  EXPECT_EQ(imbalance(plan, known_sizes(plan, "N=1000,P=8"), 8), 1);  // nothing is known of single workers
  const PredictedTime slow = predicted_times(plan, &block, {}).iterations.at(0).value();
  Sizes even = block;
  even.by_worker.clear();
  const PredictedTime mean = predicted_times(plan, &even, {}).iterations.at(0).value();
  EXPECT_NEAR(slow.memory, 8 * mean.memory, 1e-9 * slow.memory);
  EXPECT_EQ(slow.network, mean.network);
}

// Any dimension, any table, and ids with gaps: as partition() does it.
TEST(CutChoice, TheSamplersPartsAreThoseOfThePartitioner) {
  for (const double fraction : {1.0, 0.1}) {
    for (const auto& [name, method] : partition_methods) {
      const PartitionOptions options{.workers = 5, .method = method, .theta = 4};
      const auto data = [] {
        std::vector<InputData> inputs;
        inputs.push_back(cases::valued("X", "H", "W", cases::random_edges(300, 70, 900, 1)));
        inputs.push_back(cases::pattern("G", "N", "N", {{1000, 7}, {7, 10}, {10, 9000}, {9000, 1000}}));
        inputs.push_back(cases::table("t", {"H", "W"}, ElementType::of(Scalar::f64), 300, 70));
        return inputs;
      };
      const std::vector<DimData> start{{.name = "H"}, {.name = "W"}, {.name = "N"}};
      std::vector<DimData> dims = start;
      const std::vector<Part> want = partition(dims, data(), options);
      CutSampler sampler(start, data(), fraction, true);
      for (const auto& row : partition_methods) (void)sampler.cut({.workers = 5, .method = row.second, .theta = 4});
      const std::vector<Part> got = sampler.parts(options);
      ASSERT_EQ(got.size(), want.size());
      EXPECT_EQ(statistics(got), statistics(want)) << name;
      EXPECT_EQ(sampler.dims()[2].original, dims[2].original);
      for (std::size_t w = 0; w < want.size(); ++w) {
        for (const auto& [matrix, facts] : want[w].matrices) {
          EXPECT_EQ(got[w].matrices.at(matrix).columns, facts.columns);
          EXPECT_EQ(got[w].matrices.at(matrix).row_slaves.slaves, facts.row_slaves.slaves);
        }
        const Array &a = want[w].arrays.at("t").data, &b = got[w].arrays.at("t").data;
        ASSERT_EQ(a.count, b.count);
        EXPECT_TRUE(std::equal(a.as<double>(), a.as<double>() + a.count, b.as<double>()));
        EXPECT_EQ(got[w].dims.at("W").others, want[w].dims.at("W").others);
      }
    }
  }
}

}  // namespace
}  // namespace kasen
