// The partition of a real graph against the plain counting program and the numbers known of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/data/partition_cases.h"

namespace kasen {
namespace {

std::string find_graph(const std::string& name) {
  std::vector<std::string> folders{KASEN_DATASETS};
  if (const char* given = std::getenv("KASEN_DATA")) folders.insert(folders.begin(), given);
  for (const std::string& folder : folders)
    if (access((folder + "/" + name).c_str(), R_OK) == 0) return folder + "/" + name;
  return {};
}

// Read by other means than the reader's: xz and two numbers a line.
std::vector<cases::Edge> read_edges(const std::string& path) {
  std::FILE* pipe = popen(("xz -dc '" + path + "'").c_str(), "r");
  std::vector<cases::Edge> edges;
  char line[256];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    if (line[0] == '#') continue;
    char* rest = nullptr;
    const std::int64_t from = std::strtoll(line, &rest, 10);
    edges.emplace_back(from, std::strtoll(rest, nullptr, 10));
  }
  if (pipe != nullptr) pclose(pipe);
  return edges;
}

TEST(PartitionGraph, WebGraphInto16ByHybridCut) {
  const std::string path = find_graph("cnr-2000.txt.xz");
  if (path.empty()) GTEST_SKIP() << "cnr-2000.txt.xz is neither in $KASEN_DATA nor in datasets/";
  const auto edges = read_edges(path);
  ASSERT_EQ(edges.size(), 3216152U);
  const PartitionOptions options{.workers = 16, .theta = 100};
  std::vector<DimData> dims{{.name = "N"}};
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", edges));
  const auto parts = partition(dims, std::move(inputs), options);
  EXPECT_EQ(dims[0].size, 325557);
  EXPECT_TRUE(dims[0].original.empty());
  const BundleStatistics have = statistics(parts);
  const cases::Count want = cases::plain_count(edges, 325557, 325557, options);
  EXPECT_EQ(have.matrices[0].row_slaves, cases::Count::total(want.rows));
  EXPECT_EQ(have.matrices[0].col_slaves, cases::Count::total(want.cols));
  EXPECT_EQ(have.dims[0].slaves, want.united());
  EXPECT_EQ(have.matrices[0].entries_by_worker, want.entries);
  EXPECT_NEAR(static_cast<double>(have.dims[0].slaves), 807e3, 0.03 * 807e3);
  EXPECT_NEAR(static_cast<double>(have.matrices[0].row_slaves), 786e3, 0.03 * 786e3);
  EXPECT_NEAR(static_cast<double>(have.matrices[0].col_slaves), 32e3, 0.05 * 32e3);
}

struct GraphTarget {
  std::string file;
  double most_sent;  // of what hybrid-cut sends in a turn of PageRank: each slave once to scatter or to gather
};
class MultilevelGraph : public ::testing::TestWithParam<GraphTarget> {};

TEST_P(MultilevelGraph, SendsMuchLessInBalancedParts) {
  const std::string path = find_graph(GetParam().file);
  if (path.empty()) GTEST_SKIP() << GetParam().file << " is neither in $KASEN_DATA nor in datasets/";
  const auto edges = read_edges(path);
  const auto cut = [&](const PartitionOptions& options) {
    std::vector<DimData> dims{{.name = "N"}};
    std::vector<InputData> inputs;
    inputs.push_back(cases::pattern("G", "N", "N", edges));
    return partition(dims, std::move(inputs), options);
  };
  const MatrixStatistics hashed = statistics(cut({.workers = 16})).matrices[0];
  const BundleStatistics have = statistics(cut({.workers = 16, .method = PartitionMethod::ml}));
  const auto sent = [](const MatrixStatistics& m) { return static_cast<double>(m.row_slaves + m.col_slaves); };
  EXPECT_LE(sent(have.matrices[0]), GetParam().most_sent * sent(hashed));
  const auto most = [](const std::vector<std::int64_t>& counts) {
    return static_cast<double>(*std::max_element(counts.begin(), counts.end())) * 16;
  };
  EXPECT_LE(most(have.matrices[0].entries_by_worker), 1.10 * static_cast<double>(edges.size()));
  EXPECT_LE(most(have.dims[0].masters_by_worker), 1.10 * static_cast<double>(have.dims[0].size));
}

INSTANTIATE_TEST_SUITE_P(Graphs, MultilevelGraph,
                         ::testing::Values(GraphTarget{"cnr-2000.txt.xz", 1.0 / 30},
                                           GraphTarget{"soc-Slashdot0902.txt.xz", 0.67}),
                         [](const auto& graph) { return graph.param.file.substr(0, 3); });

}  // namespace
}  // namespace kasen
