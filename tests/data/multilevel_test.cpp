// Method ml: balance over all sorts of matrices, the same every time, and what it does where METIS cannot.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "libcomm/data/cut/metis.h"
#include "tests/data/partition_cases.h"

namespace kasen {
namespace {

using cases::Edge;

struct Matrix {
  std::string name, rows, cols;
  std::vector<Edge> edges;
};

struct Shape {
  std::string name;
  std::vector<DimData> dims;
  std::vector<Matrix> matrices;
};

std::vector<InputData> inputs_of(const Shape& shape) {
  std::vector<InputData> inputs;
  for (const Matrix& m : shape.matrices) inputs.push_back(cases::pattern(m.name, m.rows, m.cols, m.edges));
  return inputs;
}

std::vector<Edge> distinct(std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Degrees fall as a power of the id, both ways.
std::vector<Edge> power_law(std::int64_t size, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto id = [&] {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return std::min(size - 1, static_cast<std::int64_t>(std::pow(static_cast<double>(size), u)) - 1);
  };
  std::vector<Edge> edges;
  for (std::size_t k = 0; k < count; ++k) edges.emplace_back(id(), id());
  return distinct(std::move(edges));
}

std::vector<Edge> grid(std::int64_t side) {
  std::vector<Edge> edges;
  for (std::int64_t x = 0; x < side; ++x)
    for (std::int64_t y = 0; y < side; ++y) {
      if (x + 1 < side) edges.emplace_back(x * side + y, (x + 1) * side + y);
      if (y + 1 < side) edges.emplace_back(x * side + y + 1, x * side + y);
    }
  return edges;
}

std::vector<Edge> star(std::int64_t size, bool in, bool out) {
  std::vector<Edge> edges;
  for (std::int64_t i = 1; i < size; ++i) {
    if (in) edges.emplace_back(i, 0);
    if (out) edges.emplace_back(0, i);
  }
  return edges;
}

// Entries near the diagonal of a matrix of any shape, its rows in an order that does not show it.
std::vector<Edge> bands(std::int64_t rows, std::int64_t cols) {
  std::vector<Edge> edges;
  const std::int64_t longer = std::max(rows, cols);
  for (std::int64_t k = 0; k < longer; ++k)
    for (std::int64_t d = 0; d < 4; ++d) {
      const std::int64_t i = rows < cols ? k * rows / cols : k, j = cols < rows ? k * cols / rows : k;
      edges.emplace_back(i * 7 % rows, (rows < cols ? std::min(j + d, cols - 1) : std::min(j + d % 2, cols - 1)));
    }
  return distinct(std::move(edges));
}

std::vector<Edge> complete(std::int64_t rows, std::int64_t cols) {
  std::vector<Edge> edges;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) edges.emplace_back(i, j);
  return edges;
}

std::vector<Shape> make_shapes() {
  const auto square = [](std::int64_t size) { return std::vector<DimData>{{.name = "N", .size = size}}; };
  const auto oblong = [](std::int64_t rows, std::int64_t cols) {
    return std::vector<DimData>{{.name = "H", .size = rows}, {.name = "W", .size = cols}};
  };
  std::vector<Shape> all;
  all.push_back({"random", square(700), {{"G", "N", "N", cases::random_edges(700, 700, 4000, 1)}}});
  all.push_back({"power law", square(2000), {{"G", "N", "N", power_law(2000, 9000, 2)}}});
  all.push_back({"grid", square(900), {{"G", "N", "N", grid(30)}}});
  all.push_back({"star in", square(500), {{"G", "N", "N", star(500, true, false)}}});
  all.push_back({"star out", square(500), {{"G", "N", "N", star(500, false, true)}}});
  all.push_back({"star both", square(500), {{"G", "N", "N", star(500, true, true)}}});
  all.push_back({"isolated", square(3000), {{"G", "N", "N", cases::random_edges(200, 200, 900, 3)}}});
  all.push_back({"diagonal", square(300), {{"G", "N", "N", [] {
                                              std::vector<Edge> edges;
                                              for (std::int64_t i = 0; i < 300; ++i) edges.emplace_back(i, i);
                                              return edges;
                                            }()}}});
  all.push_back({"complete", square(60), {{"G", "N", "N", complete(60, 60)}}});
  all.push_back({"empty", square(100), {{"G", "N", "N", {}}}});
  all.push_back({"nothing", square(0), {{"G", "N", "N", {}}}});
  all.push_back({"tall", oblong(3000, 40), {{"X", "H", "W", cases::random_edges(3000, 40, 6000, 4)}}});
  all.push_back({"wide", oblong(40, 3000), {{"X", "H", "W", cases::random_edges(40, 3000, 6000, 5)}}});
  all.push_back({"banded", square(1000), {{"G", "N", "N", bands(1000, 1000)}}});
  all.push_back({"tall bands", oblong(3000, 600), {{"X", "H", "W", bands(3000, 600)}}});
  all.push_back({"wide bands", oblong(400, 3000), {{"X", "H", "W", bands(400, 3000)}}});
  all.push_back({"tall and full", oblong(400, 3), {{"X", "H", "W", complete(400, 3)}}});
  all.push_back({"two over one dimension",
                 square(600),
                 {{"A", "N", "N", cases::random_edges(600, 600, 2000, 6)},
                  {"B", "N", "N", cases::random_edges(600, 600, 1000, 7)}}});
  all.push_back({"three over three dimensions",
                 {{.name = "N", .size = 500}, {.name = "H", .size = 900}, {.name = "W", .size = 300}},
                 {{"G", "N", "N", cases::random_edges(500, 500, 2000, 8)},
                  {"X", "H", "N", cases::random_edges(900, 500, 3000, 9)},
                  {"Y", "W", "H", cases::random_edges(300, 900, 2500, 10)}}});
  all.push_back({"two apart",
                 {{.name = "N", .size = 500}, {.name = "H", .size = 900}},
                 {{"G", "N", "N", cases::random_edges(500, 500, 2000, 11)},
                  {"X", "H", "H", cases::random_edges(900, 900, 3000, 12)}}});
  all.push_back({"a local dimension",
                 {{.name = "H", .size = 900}, {.name = "K", .local = true, .size = 5}},
                 {{"X", "H", "K", cases::random_edges(900, 5, 1500, 13)}}});
  all.push_back({"a local dimension and a graph",
                 {{.name = "H", .size = 900}, {.name = "K", .local = true, .size = 5}},
                 {{"X", "K", "H", cases::random_edges(5, 900, 1500, 14)},
                  {"G", "H", "H", cases::random_edges(900, 900, 2000, 15)}}});
  return all;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = make_shapes();
  return all;
}

// The most that a worker may have: within 1.10 of the mean where indices are light; a heavy one is not cut in two, and
// comes on top where the other load leaves nowhere else to go.
std::int64_t most_allowed(const std::vector<std::int64_t>& weights, int workers) {
  std::int64_t total = 0, heaviest = 0;
  for (const std::int64_t w : weights) {
    total += w;
    heaviest = std::max(heaviest, w);
  }
  const double mean = static_cast<double>(total) / workers;
  if (20 * static_cast<double>(heaviest) <= mean) return static_cast<std::int64_t>(1.10 * mean);
  return std::max((total + workers - 1) / workers + (heaviest > 1 ? heaviest : 0),
                  static_cast<std::int64_t>(1.10 * mean));
}

// Of each index, the entries that its owner holds for it, by the words of docs/bundle.md.
std::vector<std::int64_t> weights_of(const Shape& shape, const Matrix& matrix, const std::string& dim,
                                     std::int64_t theta) {
  std::map<std::int64_t, std::int64_t> in_column;
  std::map<std::string, const DimData*> dims;
  for (const DimData& d : shape.dims) dims[d.name] = &d;
  for (const Matrix& m : shape.matrices)
    if (m.rows == matrix.rows && m.cols == matrix.cols)
      for (const auto& [i, j] : m.edges) ++in_column[j];
  std::vector<std::int64_t> weights(static_cast<std::size_t>(dims.at(dim)->size));
  for (const Matrix& m : shape.matrices) {
    if (m.rows != matrix.rows || m.cols != matrix.cols) continue;
    for (const auto& [i, j] : m.edges) {
      const bool by_column = dims.at(m.rows)->local || (!dims.at(m.cols)->local && in_column[j] <= theta);
      if (by_column && m.cols == dim) ++weights[static_cast<std::size_t>(j)];
      if (!by_column && m.rows == dim) ++weights[static_cast<std::size_t>(i)];
    }
  }
  return weights;
}

void expect_balanced(const Shape& shape, const std::vector<Part>& parts, const PartitionOptions& options) {
  const BundleStatistics have = statistics(parts);
  for (const DimStatistics& dim : have.dims) {
    if (dim.local) continue;
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(dim.size), 1);
    for (const std::int64_t n : dim.masters_by_worker)
      EXPECT_LE(n, most_allowed(ones, options.workers)) << "masters of " << dim.name;
  }
  for (const Matrix& m : shape.matrices) {
    std::vector<std::int64_t> weights = weights_of(shape, m, m.rows, options.theta);
    if (m.cols != m.rows) {
      const auto more = weights_of(shape, m, m.cols, options.theta);
      weights.insert(weights.end(), more.begin(), more.end());
    }
    for (int w = 0; w < options.workers; ++w) {
      std::int64_t entries = 0;
      for (const auto& [name, matrix] : parts[static_cast<std::size_t>(w)].matrices)
        if (matrix.row_dim == m.rows && matrix.col_dim == m.cols)
          entries += static_cast<std::int64_t>(matrix.columns.size());
      EXPECT_LE(entries, most_allowed(weights, options.workers)) << "entries of " << m.name << " on " << w;
    }
  }
}

struct Case {
  int workers;
  bool metis;
  std::vector<std::int64_t> thetas;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.workers << (c.metis ? " workers, METIS" : " workers"); }
class Balance : public ::testing::TestWithParam<Case> {};

TEST_P(Balance, OfIndicesAndEntries) {
  const auto [workers, metis, thetas] = GetParam();
  for (const Shape& shape : shapes()) {
    for (const std::int64_t theta : thetas) {
      SCOPED_TRACE(shape.name + ", theta " + std::to_string(theta));
      PartitionOptions options{.workers = workers, .method = PartitionMethod::ml, .theta = theta};
      if (!metis) options.metis_bytes = 0;
      std::vector<DimData> dims = shape.dims, again = shape.dims;
      const auto parts = partition(dims, inputs_of(shape), options);
      expect_balanced(shape, parts, options);
      if (theta == 100) continue;
      const auto same = partition(again, inputs_of(shape), options);
      for (std::size_t w = 0; w < parts.size(); ++w)
        for (const auto& [name, dim] : parts[w].dims) ASSERT_EQ(dim.masters, same[w].dims.at(name).masters);
    }
  }
}

const std::vector<std::int64_t> all_thetas{100, 6, 0};
INSTANTIATE_TEST_SUITE_P(Streaming, Balance,
                         ::testing::Values(Case{1, false, {6}}, Case{2, false, all_thetas}, Case{3, false, {0}},
                                           Case{7, false, all_thetas}, Case{16, false, all_thetas},
                                           Case{64, false, {6}}));
INSTANTIATE_TEST_SUITE_P(Metis, Balance,
                         ::testing::Values(Case{1, true, {6}}, Case{2, true, {100}}, Case{3, true, {6}}));
INSTANTIATE_TEST_SUITE_P(Long, Balance,
                         ::testing::Values(Case{2, true, all_thetas}, Case{3, true, all_thetas},
                                           Case{7, true, all_thetas}, Case{16, true, all_thetas},
                                           Case{64, true, all_thetas}));

TEST(Multilevel, TakesMoreWorkersThanIndices) {
  for (const Shape& shape : shapes()) {
    if (shape.name != "random" && shape.name != "star both" && shape.name != "tall") continue;
    SCOPED_TRACE(shape.name);
    const PartitionOptions options{.workers = 1500, .method = PartitionMethod::ml};
    std::vector<DimData> dims = shape.dims;
    expect_balanced(shape, partition(dims, inputs_of(shape), options), options);
  }
}

std::int64_t slaves_of(const Shape& shape, PartitionOptions options) {
  std::vector<DimData> dims = shape.dims;
  std::int64_t sum = 0;
  for (const DimStatistics& dim : statistics(partition(dims, inputs_of(shape), options)).dims) sum += dim.slaves;
  return sum;
}

TEST(Multilevel, SendsLessThanAHashWithAndWithoutMetis) {
  for (const Shape& shape : shapes()) {
    if (shape.name != "grid" && shape.name != "banded" && shape.name != "tall bands" && shape.name != "wide bands")
      continue;
    SCOPED_TRACE(shape.name);
    const std::int64_t hashed = slaves_of(shape, {.workers = 8});
    const std::int64_t metis = slaves_of(shape, {.workers = 8, .method = PartitionMethod::ml});
    const std::int64_t streamed = slaves_of(shape, {.workers = 8, .method = PartitionMethod::ml, .metis_bytes = 0});
    EXPECT_LT(metis, hashed);
    EXPECT_LT(streamed, hashed);
    if (shape.name != "grid") continue;
    EXPECT_LE(metis, 500);  // 8 parts of 30 by 30: some 7 cuts of 30 indices, each a slave once or twice
    EXPECT_LE(streamed, 900);
  }
}

// METIS cuts the others alone: as well, and balanced, wherever they stand among them.
TEST(Multilevel, IndicesWithoutEntriesDoNotSpoilTheCut) {
  std::vector<Edge> scattered = grid(30);
  for (auto& [from, to] : scattered) {
    from *= 70;
    to *= 70;
  }
  const Shape shape{"scattered grid", {{.name = "N", .size = 70 * 900}}, {{"G", "N", "N", scattered}}};
  const PartitionOptions options{.workers = 8, .method = PartitionMethod::ml};
  EXPECT_LE(slaves_of(shape, options), 500);
  std::vector<DimData> dims = shape.dims;
  expect_balanced(shape, partition(dims, inputs_of(shape), options), options);
}

TEST(Multilevel, SaysWhenItStreams) {
  const Shape shape{"grid", {{.name = "N", .size = 900}}, {{"G", "N", "N", grid(30)}}};
  std::vector<std::string> notes;
  PartitionOptions options{.workers = 4, .method = PartitionMethod::ml, .notes = &notes};
  (void)slaves_of(shape, options);
  EXPECT_TRUE(notes.empty());
  options.metis_bytes = 1000;
  (void)slaves_of(shape, options);
  ASSERT_EQ(notes.size(), 1U);
  for (const char* part : {"METIS would take some ", "more than there is", "a streaming cut was made instead"})
    EXPECT_NE(notes[0].find(part), std::string::npos) << notes[0];
}

// With no room for the graph; and where METIS itself refuses, prints and fails.
TEST(Multilevel, MetisMayFail) {
  std::vector<DimData> dims{{.name = "N", .size = 100000}};
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", bands(100000, 100000)));
  std::vector<DimLayout> layouts = unite_dims(dims, inputs, 4);
  const std::vector<EntryList> entries = take_entries(inputs, layouts);
  const std::vector<EntryRule> rules =
      make_rules(inputs, entries, layouts, {.workers = 4, .method = PartitionMethod::ml});
  const std::vector<CutModel> models = cut_models(layouts, inputs, entries, rules);
  ASSERT_EQ(models.size(), 1U);
  ASSERT_TRUE(metis_cut(models[0], 4).why_not.empty());

  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const MetisCut refused = metis_cut(models[0], 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(refused.owner.empty());
  EXPECT_NE(refused.why_not.find("METIS failed"), std::string::npos) << refused.why_not;

  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  malloc_trim(0);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  const MetisCut cramped = metis_cut(models[0], 4);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(cramped.owner.empty());
  EXPECT_NE(cramped.why_not.find("memory"), std::string::npos) << cramped.why_not;
}

// METIS sets handlers of its own, and seeds rand(): not in this process.
TEST(Multilevel, LeavesTheProcessAsItWas) {
  const Shape shape{"grid", {{.name = "N", .size = 900}}, {{"G", "N", "N", grid(30)}}};
  const auto handler = std::signal(SIGTERM, [](int) {});
  const auto mine = std::signal(SIGTERM, [](int) {});
  std::srand(7);
  const int first = std::rand();
  std::srand(7);
  (void)slaves_of(shape, {.workers = 4, .method = PartitionMethod::ml});
  EXPECT_EQ(std::rand(), first);
  const auto after = std::signal(SIGTERM, handler);
  EXPECT_NE(mine, SIG_DFL);
  EXPECT_NE(after, SIG_DFL);
}

}  // namespace
}  // namespace kasen
