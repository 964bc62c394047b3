// The real files, against the counts that their publishers and shared records give. KASEN_DATA names the folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers

class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("KASEN_DATA");
    if (folder == nullptr) GTEST_SKIP() << "KASEN_DATA is not set: it names the folder of the public data sets";
    folder_ = folder;
  }
  [[nodiscard]] std::string path(const char* name) const { return folder_ + '/' + name; }

 private:
  std::string folder_;
};

struct Graph {
  const char* file;
  std::int64_t nodes, edges, loops, dangling;
};

TEST_F(RealData, Graphs) {
  const Graph graphs[] = {{"cnr-2000.txt.xz", 325557, 3216152, 87442, 78056},
                          {"soc-Slashdot0902.txt.xz", 82168, 948464, 78303, 3727},
                          {"p2p-Gnutella31.txt.xz", 62586, 147892, 0, 46199},
                          {"email-Enron.txt.xz", 36692, 367662, 0, 0}};
  for (const Graph& graph : graphs) {
    EXPECT_EQ(detect_format(path(graph.file)), FileFormat::edge_list) << graph.file;
    const RawMatrix m = read_matrix(path(graph.file), matrix_of(Scalar::null));
    EXPECT_EQ(std::max(m.row_count, m.col_count), graph.nodes) << graph.file;
    const std::vector<std::int64_t> rows = m.entries.rows(), cols = m.entries.cols();
    EXPECT_EQ(static_cast<std::int64_t>(rows.size()), graph.edges) << graph.file;
    std::int64_t loops = 0;
    std::vector<bool> out(static_cast<size_t>(graph.nodes));
    for (size_t i = 0; i < rows.size(); ++i) {
      loops += rows[i] == cols[i] ? 1 : 0;
      out[static_cast<size_t>(rows[i])] = true;
    }
    EXPECT_EQ(loops, graph.loops) << graph.file;
    EXPECT_EQ(std::count(out.begin(), out.end(), false), graph.dangling) << graph.file;
  }
}

TEST_F(RealData, A9aFeaturesAndLabels) {
  struct Half {
    const char* file;
    std::int64_t rows, cols, entries, positive;
  };
  for (const Half& half : {Half{"a9a.xz", 32561, 123, 451592, 7841}, Half{"a9a.t.xz", 16281, 122, 225731, 3846}}) {
    EXPECT_EQ(detect_format(path(half.file)), FileFormat::libsvm);
    const RawMatrix m = read_matrix(path(half.file), matrix_of(Scalar::f64));
    EXPECT_EQ(m.row_count, half.rows);
    EXPECT_EQ(m.col_count, half.cols);
    EXPECT_EQ(m.entries.count(), half.entries);
    const Array read = m.entries.values();
    const double* values = read.as<double>();
    EXPECT_TRUE(std::all_of(values, values + half.entries, [](double v) { return v == 1; }));
    const std::vector<double> labels = numbers_of(read_table(path(half.file), table_of(Scalar::i32)));
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), half.positive);
    EXPECT_EQ(std::count(labels.begin(), labels.end(), -1), half.rows - half.positive);
  }
}

TEST_F(RealData, MovieLensRatings) {
  ReadOptions options = matrix_of(Scalar::f32);
  options.columns = {1, 2, 3};
  const RawMatrix m = read_matrix(path("ml-100k.u.data.xz"), options);
  const std::vector<std::int64_t> rows = m.entries.rows();
  const Array values = m.entries.values();
  EXPECT_EQ(rows.size(), 100000U);
  EXPECT_EQ(m.row_count, 943 + 1);
  EXPECT_EQ(m.col_count, 1682 + 1);
  EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), 1);
  const float* ratings = values.as<float>();
  EXPECT_EQ(std::set<float>(ratings, ratings + 100000), (std::set<float>{1, 2, 3, 4, 5}));
}

TEST_F(RealData, KddCupWithWords) {
  ReadOptions words = table_of(Scalar::f64);
  words.words = {{2, 4}, 42};
  const RawTable t = read_table(path("kddcup.data_10_percent.xz"), words);
  EXPECT_EQ(t.rows, 494021);
  EXPECT_EQ(t.cols, 42);
  ASSERT_EQ(t.dictionaries.size(), 4U);
  for (const int column : {2, 3, 4, 42}) EXPECT_EQ(t.dictionaries.count(column), 1U) << column;
  EXPECT_EQ(t.dictionaries.at(42).words.size(), 23U);
  const double* values = t.values.as<double>();
  for (std::int64_t row = 0; row < t.rows; ++row) {
    ASSERT_EQ(values[row * 42 + 19], 0);
    ASSERT_EQ(values[row * 42 + 20], 0);
  }
}

TEST_F(RealData, SkinSegmentation) {
  const RawTable t = read_table(path("Skin_NonSkin.txt.xz"), table_of(Scalar::i32));
  EXPECT_EQ(t.rows, 245057);
  EXPECT_EQ(t.cols, 4);
  ReadOptions options = table_of(Scalar::i32);
  options.columns = {4};
  const std::vector<double> classes = numbers_of(read_table(path("Skin_NonSkin.txt.xz"), options));
  EXPECT_EQ(std::count(classes.begin(), classes.end(), 1), 50859);
  EXPECT_EQ(std::count(classes.begin(), classes.end(), 2), 194198);
}

TEST_F(RealData, Bcsstk13Expanded) {
  const RawMatrix m = read_matrix(path("bcsstk13.mtx.xz"), matrix_of(Scalar::f64));
  EXPECT_EQ(m.row_count, 2003);
  EXPECT_EQ(m.col_count, 2003);
  const std::vector<std::int64_t> rows = m.entries.rows(), cols = m.entries.cols();
  EXPECT_EQ(rows.size(), 83883U);
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (size_t i = 0; i < rows.size(); ++i) places.emplace(rows[i], cols[i]);
  EXPECT_EQ(places.size(), 83883U);
}

}  // namespace
}  // namespace kasen
