// The whole way in one process, on real graphs: every count of workers, partitioner, mode, strategy and thread count
// gives GraphBLAS's ranks, the same bits whatever the threads, and exactly the bytes that were predicted.
// Without an argument a chosen part runs; with --all every combination on every graph of KASEN_DATA.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "libcomm/data/cut/partition.h"
#include "libcomm/data/read/readers.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/run/executor.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/footprint.h"
#include "libopt/cost/sizes.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/run_report.h"
#include "tests/support/generated.h"
#include "tests/system/graphblas_pagerank.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

bool everything = false;
const fs::path source_root = KASEN_SOURCE_ROOT;

constexpr double damping = 0.85;
// The chosen part stops sooner: its turns are the same, but fewer.
double theta() { return everything ? 1e-3 : 1; }

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

RawMatrix read_graph(const fs::path& path) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::null);
  return read_matrix(path.string(), options);
}

struct Mode {
  SyncMode sync;
  Strategy strategy;
  bool split;
  const char* name;
};
constexpr std::array<Mode, 7> modes{{
    {SyncMode::hybrid, Strategy::greedy, true, "hybrid fused"},
    {SyncMode::hybrid, Strategy::none, true, "hybrid unfused"},
    {SyncMode::lazy, Strategy::greedy, true, "lazy fused"},
    {SyncMode::lazy, Strategy::none, true, "lazy unfused"},
    {SyncMode::lazy, Strategy::none, false, "lazy unfused, not split"},
    {SyncMode::eager, Strategy::greedy, true, "eager fused"},
    {SyncMode::eager, Strategy::none, true, "eager unfused"},
}};

Module plan(const Mode& mode) {
  const fs::path program = source_root / "examples" / "pagerank.ks";
  TrialLawChecker laws;
  OptimizeOptions options;
  options.sync = mode.sync;
  options.strategy = mode.strategy;
  options.split = mode.split;
  return optimize(compile_program(read_file(program), program.string(), {{"theta", fmt::format("{}", theta())}}), laws,
                  options);
}

struct Cut {
  int workers;
  PartitionMethod method;
};

std::vector<Part> cut(const Module& module, RawMatrix graph, const Cut& how) {
  std::vector<DimData> dims;
  for (const Dimension& d : module.dims) dims.push_back({d.name, d.local, d.size, {}});
  std::vector<InputData> inputs;
  inputs.push_back({"G",
                    {module.dims.front().name, module.dims.front().name},
                    ElementType::of(Scalar::null),
                    true,
                    std::move(graph),
                    {},
                    ""});
  PartitionOptions options;
  options.workers = how.workers;
  options.method = how.method;
  return partition(dims, std::move(inputs), options);
}

std::vector<double> whole(const Output& output, const std::vector<Part>& parts, const std::string& dim) {
  std::vector<double> rank(static_cast<size_t>(parts[0].dims.at(dim).size));
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::vector<std::int64_t> masters = parts[p].dims.at(dim).masters.listed();
    for (size_t k = 0; k < masters.size(); ++k)
      rank[static_cast<size_t>(masters[k])] = output.parts[p].data.as<double>()[k];
  }
  return rank;
}

RunResult run(const Module& module, const std::vector<Part>& parts, int threads) {
  const std::unique_ptr<Transport> transport = make_simulated_transport(static_cast<int>(parts.size()));
  const std::unique_ptr<KernelSet> kernels = testing::make_kernels({.threads = threads});
  kernels->prepare(module);
  return execute(module, parts, *transport, *kernels, {});
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - want[i]) / std::fabs(want[i]));
  EXPECT_LE(worst, 1e-12);
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0);
}

// The reference ranks the graph once, whatever it is cut into.
void check_graph(const fs::path& path, const std::vector<Cut>& cuts) {
  RawMatrix graph = read_graph(path);
  const testing::PageRankReference reference = testing::graphblas_pagerank(
      std::max(graph.row_count, graph.col_count), graph.entries.rows(), graph.entries.cols(), damping, theta());
  for (const Cut& how : cuts) {
    if (&how != &cuts[0]) graph = read_graph(path);  // the cut before has taken it
    const std::vector<Part> parts = cut(plan(modes[0]), std::move(graph), how);
    for (const Mode& mode : modes) {
      SCOPED_TRACE(fmt::format("{}, {} workers, {}, {}", path.filename().string(), how.workers, method_name(how.method),
                               mode.name));
      const Module module = plan(mode);
      const RunResult one = run(module, parts, 1);
      const std::vector<double> rank = whole(one.outputs[0], parts, module.dims.front().name);
      expect_near(rank, reference.rank);
      const RunResult two = run(module, parts, 2);
      expect_same_bits(whole(two.outputs[0], parts, module.dims.front().name), rank);
      EXPECT_EQ(one.late_allocations, 0);
      const Sizes sizes = sizes_from_parts(module, parts);
      RunReport report = make_run_report(module, one);
      report.workers = how.workers;
      report.kernels = "generated";
      for (const Compared& m : check_against(module, sizes, report).mismatches) {
        ADD_FAILURE() << m.what << " of " << m.statement << ": predicted " << m.predicted << ", counted " << m.counted;
      }
    }
  }
}

std::vector<Cut> all_cuts() {
  std::vector<Cut> cuts;
  for (const int workers : {1, 2, 3, 4, 16}) {
    for (const auto method : {PartitionMethod::block, PartitionMethod::hybrid_cut, PartitionMethod::ml})
      cuts.push_back({workers, method});
  }
  return cuts;
}

fs::path bundled() { return source_root / "datasets" / "cnr-2000.txt.xz"; }

TEST(PageRankMatrix, BundledGraph) {
  check_graph(bundled(), everything ? all_cuts() : std::vector<Cut>{{4, PartitionMethod::hybrid_cut}});
}

TEST(PageRankMatrix, GraphsOfTheDataFolder) {
  const char* folder = std::getenv("KASEN_DATA");
  if (folder == nullptr) GTEST_SKIP() << "KASEN_DATA is not set: the graphs of the data folder are not tried";
  const std::vector<std::string> graphs{"p2p-Gnutella31.txt.xz", "email-Enron.txt.xz", "soc-Slashdot0902.txt.xz"};
  for (const std::string& name : graphs) {
    const fs::path path = fs::path(folder) / name;
    ASSERT_TRUE(fs::exists(path)) << path;
    std::vector<Cut> few{{3, PartitionMethod::hybrid_cut}, {16, PartitionMethod::block}};
    if (name == graphs[0]) few.push_back({5, PartitionMethod::ml});
    check_graph(path, everything ? all_cuts() : few);
  }
}

}  // namespace
}  // namespace kasen

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  kasen::everything = argc > 1 && std::string_view(argv[1]) == "--all";
  return RUN_ALL_TESTS();
}
