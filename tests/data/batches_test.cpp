// Sparse inputs with batches: as many matrices, cut by the same owners, and bundles that hold them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/cut/sample.h"
#include "tests/data/partition_calls.h"
#include "tests/data/refusal.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using cases::cut, cases::Edge, cases::Folder, cases::inputs_of;
using kasen::testing::refusal;
using ::testing::AllOf, ::testing::HasSubstr;

// Distinct edges in each of some batches of `rows` rows.
std::vector<std::vector<Edge>> random_batches(std::int64_t batches, std::int64_t rows, std::int64_t cols,
                                              std::size_t count, unsigned seed) {
  std::vector<std::vector<Edge>> all;
  for (std::int64_t t = 0; t < batches; ++t)
    all.push_back(
        cases::random_edges(rows, cols, t % 3 == 1 ? count / 8 : count, seed + static_cast<unsigned>(t), t % 2 == 0));
  return all;
}

// The rows of a file that has all batches, in random order.
std::vector<Edge> lines_of(const std::vector<std::vector<Edge>>& batches, std::int64_t rows) {
  std::vector<Edge> lines;
  for (std::size_t t = 0; t < batches.size(); ++t)
    for (const auto& [i, j] : batches[t]) lines.emplace_back(static_cast<std::int64_t>(t) * rows + i, j);
  std::shuffle(lines.begin(), lines.end(), std::mt19937_64(lines.size()));  // NOLINT: the same in each run
  return lines;
}

InputData batched(const std::vector<Edge>& lines, std::int64_t count, std::int64_t cols, bool values = true,
                  bool declared = true) {
  InputData input = values ? cases::valued("X", "N", "F", lines) : cases::pattern("X", "N", "F", lines);
  input.dims = {"T", "N", "F"};
  input.source = "x.mtx 00ff";
  input.matrix.declared = declared;
  input.matrix.row_count = count;
  input.matrix.col_count = cols;
  return input;
}

std::vector<DimData> dims_with(std::int64_t batches, std::int64_t rows = unknown_size, std::int64_t cols = unknown_size,
                               bool local_rows = false, bool local_cols = false) {
  return {{.name = "T", .local = true, .size = batches},
          {.name = "N", .local = local_rows, .size = rows},
          {.name = "F", .local = local_cols, .size = cols}};
}

std::int64_t global_index(const Part& part, const std::string& dim, const AxisSlaves& axis, std::int64_t local) {
  const auto& masters = part.dims.at(dim).masters;
  const std::int64_t n = masters.size();
  return local < n ? masters[local] : axis.slaves.at(static_cast<std::size_t>(local - n));
}

// The entries of one batch in a part, with global indices.
std::map<Edge, double> entries_in(const Part& part, const std::string& name, std::int64_t batch) {
  const PartMatrix& m = part.matrices.at(name);
  const std::int64_t rows = part.dims.at(m.row_dim).masters.size() + std::ssize(m.row_slaves.slaves);
  EXPECT_EQ(std::ssize(m.row_pointers), m.batches * rows + 1);
  EXPECT_EQ(m.row_pointers.front(), 0);
  EXPECT_EQ(m.row_pointers.back(), std::ssize(m.columns));
  std::map<Edge, double> entries;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto line = static_cast<std::size_t>(batch * rows + i);
    for (std::int64_t e = m.row_pointers[line]; e < m.row_pointers[line + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (e > m.row_pointers[line]) {
        EXPECT_LT(m.columns[at - 1], m.columns[at]);
      }
      const Edge entry{global_index(part, m.row_dim, m.row_slaves, i),
                       global_index(part, m.col_dim, m.col_slaves, m.columns[at])};
      entries.emplace(entry, m.values.count > 0 ? m.values.as<double>()[e] : 1.0);
    }
  }
  return entries;
}

std::set<std::int64_t> all_slaves(const Part& part, const std::vector<std::string>& matrices,
                                  AxisSlaves PartMatrix::*axis) {
  std::set<std::int64_t> all;
  for (const std::string& name : matrices) {
    const std::vector<std::int64_t>& slaves = (part.matrices.at(name).*axis).slaves;
    all.insert(slaves.begin(), slaves.end());
  }
  return all;
}

struct BatchCase {
  std::int64_t batches = 4, rows = 30, cols = 25;
  std::size_t entries = 200;
  bool values = true, local_rows = false, local_cols = false;
};

// Every batch as a matrix of its own, all over the same two dimensions: these are cut alike, by all entries together.
void expect_as_by_themselves(const BatchCase& of, const PartitionOptions& options, unsigned seed) {
  const auto batches = random_batches(of.batches, of.rows, of.cols, of.entries, seed);
  std::vector<InputData> apart;
  std::vector<std::string> names;
  for (std::size_t t = 0; t < batches.size(); ++t) {
    names.push_back(fmt::format("X{:04}", t));
    apart.push_back(of.values ? cases::valued(names.back(), "N", "F", batches[t])
                              : cases::pattern(names.back(), "N", "F", batches[t]));
    if (!of.values || batches[t].empty()) continue;
    Array values = apart.back().matrix.entries.values();
    for (std::int64_t k = 0; k < values.count; ++k)
      values.as<double>()[k] += 1000. * static_cast<double>(static_cast<std::int64_t>(t) * of.rows);
    cases::set_values(apart.back(), values);
  }
  std::vector<DimData> dims = dims_with(of.batches, of.rows, of.cols, of.local_rows, of.local_cols);
  const std::vector<Part> wanted = cut(dims, std::move(apart), options);
  dims = dims_with(of.batches, unknown_size, of.cols, of.local_rows, of.local_cols);
  const std::vector<Part> parts =
      cut(dims, inputs_of(batched(lines_of(batches, of.rows), of.batches * of.rows, of.cols, of.values)), options);
  ASSERT_EQ(dims[1].size, of.rows);
  ASSERT_EQ(parts.size(), wanted.size());
  for (std::size_t w = 0; w < parts.size(); ++w) {
    for (const char* dim : {"N", "F"})
      ASSERT_EQ(parts[w].dims.at(dim).masters.listed(), wanted[w].dims.at(dim).masters.listed());
    ASSERT_EQ(parts[w].matrices.at("X").batches, of.batches);
    for (std::size_t t = 0; t < batches.size(); ++t)
      ASSERT_EQ(entries_in(parts[w], "X", static_cast<std::int64_t>(t)), entries_in(wanted[w], names[t], 0))
          << "batch " << t << " at worker " << w;
    for (const auto axis : {&PartMatrix::row_slaves, &PartMatrix::col_slaves})
      ASSERT_EQ(all_slaves(parts[w], {"X"}, axis), all_slaves(wanted[w], names, axis));
  }
  const Folder folder;  // reading compares what parts say of each other
  const std::string bundle = folder.file("b");
  (void)write_bundle(bundle, parts, {.workers = options.workers, .dims = {"T", "N", "F"}}, false);
  const std::vector<Part> read = read_parts(bundle, 0, options.workers);
  for (std::size_t w = 0; w < parts.size(); ++w) {
    EXPECT_EQ(read[w].matrices.at("X").batches, of.batches);
    for (std::int64_t t = 0; t < of.batches; ++t) ASSERT_EQ(entries_in(read[w], "X", t), entries_in(parts[w], "X", t));
  }
}

class Batches : public ::testing::TestWithParam<std::tuple<int, PartitionMethod>> {
 protected:
  [[nodiscard]] static PartitionOptions options() {
    return {.workers = std::get<0>(GetParam()), .method = std::get<1>(GetParam()), .theta = 9};
  }
};

TEST_P(Batches, AreMatricesByThemselves) {
  for (unsigned seed = 1; seed <= 3; ++seed) expect_as_by_themselves({}, options(), 10 * seed);
  expect_as_by_themselves({.batches = 3, .values = false}, options(), 7);
  expect_as_by_themselves({.batches = 1}, options(), 8);
}

// So many that several are sorted together, and so few that the rows of one are cut.
TEST_P(Batches, AreManyOrLong) {
  expect_as_by_themselves({.batches = 150, .rows = 7, .cols = 9, .entries = 12}, options(), 1);
  expect_as_by_themselves({.batches = 2, .rows = 9000, .cols = 40, .entries = 9000}, options(), 2);
}

TEST_P(Batches, MayHaveALocalDimension) {
  expect_as_by_themselves({.local_rows = true}, options(), 3);
  expect_as_by_themselves({.local_cols = true}, options(), 4);
}

// One batch has nearly all entries, and most have none.
TEST_P(Batches, MayDifferInTheirEntries) {
  std::vector<Edge> lines;
  for (const auto& [i, j] : cases::random_edges(50, 60, 900, 5, false)) lines.emplace_back(37 * 50 + i, j);
  lines.emplace_back(99 * 50 + 49, 59);
  lines.emplace_back(0, 0);
  std::vector<DimData> dims = dims_with(100);
  const std::vector<Part> parts = cut(dims, inputs_of(batched(lines, 5000, 60)), options());
  std::size_t found = 0;
  for (const Part& part : parts) {
    for (std::int64_t t = 0; t < 100; ++t) {
      for (const auto& [entry, value] : entries_in(part, "X", t)) {
        EXPECT_EQ(value, static_cast<double>(1000 * (t * 50 + entry.first) + entry.second));
        ++found;
      }
    }
  }
  EXPECT_EQ(found, lines.size());
}

TEST_P(Batches, OfNoEntriesAndNoRows) {
  std::vector<DimData> dims = dims_with(3);
  std::vector<Part> parts = cut(dims, inputs_of(batched({}, 6, 4)), options());
  EXPECT_EQ(dims[1].size, 2);
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += std::ssize(part.matrices.at("X").row_pointers) - 1;
  EXPECT_EQ(rows, 6);
  dims = dims_with(0, 5);
  InputData none = batched({}, 0, 4);
  parts = cut(dims, inputs_of(std::move(none)), options());
  for (const Part& part : parts) {
    EXPECT_EQ(part.matrices.at("X").batches, 0);
    EXPECT_EQ(std::ssize(part.matrices.at("X").row_pointers), 1);
  }
}

// A sample of all entries is exact.
TEST_P(Batches, AreSampled) {
  const auto batches = random_batches(3, 40, 30, 300, 3);
  std::vector<DimData> dims = dims_with(3);
  const auto input = [&] { return batched(lines_of(batches, 40), 120, 30); };
  CutSampler sampler(dims, inputs_of(input()), 1, false, options().workers);
  const CutSample sample = sampler.cut(options());
  const BundleStatistics counted = statistics(cut(dims, inputs_of(input()), options()));
  ASSERT_EQ(counted.matrices.size(), 1U);
  EXPECT_EQ(sample.entries.at("X"), counted.matrices[0].entries_by_worker);
  for (const auto& axis : sample.axes) {
    const bool rows = axis.dim == "N";
    EXPECT_EQ(std::ssize(axis.slaves), rows ? counted.matrices[0].row_slaves : counted.matrices[0].col_slaves);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Batches,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(PartitionMethod::block, PartitionMethod::hybrid_cut,
                                                              PartitionMethod::ml)));

// The sizes that follow from one given, or both, and a count of rows or the largest id.
TEST(BatchSizes, FollowFromTheRows) {
  const auto sizes = [](std::int64_t batches, std::int64_t rows, InputData input) {
    std::vector<DimData> dims = dims_with(batches, rows);
    (void)cut(dims, inputs_of(std::move(input)), {});
    return std::pair(dims[0].size, dims[1].size);
  };
  const std::vector<Edge> lines{{0, 3}, {11, 0}};
  const auto by_id = [&] { return batched(lines, 12, 4, true, false); };
  const std::pair<std::int64_t, std::int64_t> wanted{3, 4};
  EXPECT_EQ(sizes(3, unknown_size, batched(lines, 12, 4)), wanted);
  EXPECT_EQ(sizes(unknown_size, 4, batched(lines, 12, 4)), wanted);
  EXPECT_EQ(sizes(3, 4, batched(lines, 12, 4)), wanted);
  EXPECT_EQ(sizes(3, unknown_size, by_id()), wanted);
  EXPECT_EQ(sizes(unknown_size, 4, by_id()), wanted);
  EXPECT_EQ(sizes(1, unknown_size, batched({{1, 3}, {11, 0}}, 12, 4, true, false)),
            std::pair(std::int64_t{1}, std::int64_t{12}));                       // no entry in the first row
  EXPECT_EQ(sizes(5, 4, by_id()), std::pair(std::int64_t{5}, std::int64_t{4}));  // no entries in the last rows
}

TEST(BatchSizes, AreThoseOfTheLabels) {
  std::vector<DimData> dims = dims_with(unknown_size, 4);
  const std::vector<Part> parts =
      cut(dims, inputs_of(batched({{0, 3}, {11, 0}}, 12, 4), cases::table("y", {"T", "N"}, {{Component{}}}, 12, 1)),
          {.workers = 2, .method = PartitionMethod::block});
  EXPECT_EQ(dims[0].size, 3);
  EXPECT_EQ(parts[1].arrays.at("y").data.count, 6);
  EXPECT_EQ(parts[1].arrays.at("y").data.as<double>()[0], 2.5);  // row 2 of batch 0
}

// What the partitioner says.
std::string reason_of(std::vector<DimData> dims, std::vector<InputData> inputs) {
  return refusal([&] { (void)partition(dims, std::move(inputs), {.workers = 2}); });
}

TEST(BatchSizes, AreRefusedWhereRowsDoNotFit) {
  const std::vector<Edge> lines{{0, 3}, {11, 0}};
  const auto by_id = [&] { return batched(lines, 12, 4, true, false); };
  const auto inputs = [&] { return inputs_of(batched(lines, 12, 4)); };
  EXPECT_THAT(reason_of(dims_with(5), inputs()),
              AllOf(HasSubstr("'X' (x.mtx) has 12 rows"), HasSubstr("T has 5 indices"), HasSubstr("leave out 2 rows")));
  EXPECT_THAT(reason_of(dims_with(unknown_size, 7), inputs()),
              AllOf(HasSubstr("N has 7 indices"), HasSubstr("leave out 5 rows")));
  EXPECT_THAT(reason_of(dims_with(11), inputs()), HasSubstr("leave out 1 row (--rest drop"));
  EXPECT_THAT(reason_of(dims_with(0), inputs()), HasSubstr("T has 0 indices"));
  EXPECT_THAT(reason_of(dims_with(unknown_size), inputs()), AllOf(HasSubstr("neither T nor N"), HasSubstr("--dim T=")));
  EXPECT_THAT(reason_of(dims_with(3, 5), inputs()), HasSubstr("3 batches of 5 rows have 15"));
  EXPECT_THAT(reason_of(dims_with(2, 5), inputs_of(by_id())), HasSubstr("2 batches of 5 rows have 10"));
  EXPECT_THAT(reason_of(dims_with(5), inputs_of(by_id())),
              AllOf(HasSubstr("largest row id"), HasSubstr("--dim T=SIZE and --dim N=SIZE")));
}

TEST(BatchSizes, AreRefusedForIdsFromOne) {
  const auto from_one = [] { return batched({{1, 3}, {12, 0}}, 13, 4, true, false); };
  EXPECT_THAT(reason_of(dims_with(3), inputs_of(from_one())), HasSubstr("look 1-based: they run from 1 to 12"));
  EXPECT_THAT(reason_of(dims_with(3, 4), inputs_of(from_one())), HasSubstr("look 1-based"));
}

TEST(BatchSizes, AreRefusedWhereOthersDiffer) {
  const std::vector<Edge> lines{{0, 3}, {11, 0}};
  EXPECT_THAT(
      reason_of(dims_with(3), inputs_of(batched(lines, 12, 4), cases::table("w", {"N"}, {{Component{}}}, 5, 1))),
      AllOf(HasSubstr("3 batches of 4 rows"), HasSubstr("N has 5 indices")));
  EXPECT_THAT(reason_of({{.name = "T"}, {.name = "N", .size = 4}, {.name = "F"}}, inputs_of(batched(lines, 12, 4))),
              HasSubstr("'X' is sparse, and its first dimension, T, is not local"));
  InputData square = batched(lines, 12, 5);
  square.dims = {"T", "N", "N"};
  square.matrix.shaped = true;
  EXPECT_THAT(reason_of(dims_with(3), inputs_of(std::move(square))),
              HasSubstr("4 rows and 5 columns, and is over N twice"));
}

// So many rows that their pointers have no room, by sizes that a file without a count does not contradict.
TEST(BatchSizes, BeyondTheMemoryAreRefused) {
  constexpr std::int64_t many = std::numeric_limits<std::int32_t>::max();
  for (const bool local : {false, true}) {
    for (const std::int64_t rows : {std::int64_t{100'000}, many}) {
      const std::string said = refusal(
          [&] {
            std::vector<DimData> dims = dims_with(many, rows, unknown_size, local);
            (void)cut(dims, inputs_of(batched({{0, 3}, {11, 0}}, 12, 4, true, false)), {.workers = 2});
          },
          ExitStatus::limit);
      EXPECT_THAT(said, ::testing::ContainsRegex("memory")) << rows;
    }
  }
}

TEST_P(Batches, MayStandBesideOtherMatrices) {
  const auto batches = random_batches(4, 30, 25, 200, 17);
  const auto graph = cases::random_edges(30, 30, 90, 3), plain = cases::random_edges(30, 25, 90, 4);
  std::vector<DimData> dims = dims_with(4);
  const std::vector<Part> parts =
      cut(dims,
          inputs_of(cases::valued("Z", "N", "F", plain), batched(lines_of(batches, 30), 120, 25),
                    cases::pattern("G", "N", "N", graph)),
          options());
  const Folder folder;
  (void)write_bundle(folder.file("b"), parts, {.workers = options().workers, .dims = {"T", "N", "F"}}, false);
  std::map<std::string, std::size_t> found;
  for (const Part& part : read_parts(folder.file("b"), 0, options().workers)) {
    found["Z"] += entries_in(part, "Z", 0).size();
    found["G"] += entries_in(part, "G", 0).size();
    for (std::int64_t t = 0; t < 4; ++t) {
      for (const auto& [entry, value] : entries_in(part, "X", t)) {
        EXPECT_EQ(value, static_cast<double>(1000 * (t * 30 + entry.first) + entry.second));
        ++found["X"];
      }
    }
  }
  EXPECT_EQ(found, (std::map<std::string, std::size_t>{
                       {"G", graph.size()}, {"X", lines_of(batches, 30).size()}, {"Z", plain.size()}}));
}

// Other bundles keep their bytes, and statistics tell the batches.
TEST(BatchBundles, AloneHaveTheirVersion) {
  const auto batches = random_batches(3, 10, 8, 30, 3);
  const Folder folder;
  std::vector<DimData> dims = dims_with(3);
  std::vector<Part> parts = cut(dims, inputs_of(batched(lines_of(batches, 10), 30, 8)), {.workers = 2});
  const BundleInfo info = write_bundle(folder.file("b"), parts, {.workers = 2, .dims = {"T", "N", "F"}}, false);
  EXPECT_THAT(cases::content(folder.file("b/manifest.json")),
              AllOf(HasSubstr("\"kasen_bundle\": 7"), HasSubstr("\"batches\": 3")));
  EXPECT_THAT(statistics_text(read_bundle_info(folder.file("b")).statistics),
              HasSubstr(fmt::format("matrix X [N, F] in 3 batches: {} entries", info.statistics.matrices[0].entries)));
  dims = dims_with(1);
  parts = cut(dims, inputs_of(batched(lines_of({batches[0]}, 10), 10, 8)), {.workers = 2});
  (void)write_bundle(folder.file("one"), parts, {.workers = 2, .dims = {"T", "N", "F"}}, false);
  EXPECT_THAT(cases::content(folder.file("one/manifest.json")),
              AllOf(HasSubstr("\"kasen_bundle\": 3"), ::testing::Not(HasSubstr("batches"))));
}

class HostileBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<DimData> dims = dims_with(3);
    parts_ = cut(dims, inputs_of(batched(lines_of(random_batches(3, 20, 15, 60, 4), 20), 60, 15)), {.workers = 2});
    for (const Part& part : parts_) add_to_manifest(manifest_, part);
    manifest_.info.workers = 2;
    manifest_.info.dims = {"T", "N", "F"};
    manifest_.parts.resize(2);
  }

  void write(const Part& part) {
    std::filesystem::remove(file_);
    write_part(file_, part, manifest_);
  }
  void read(const Manifest& manifest) const { (void)read_part(FileHandle::open_in_folder(file_), manifest, 0); }
  [[nodiscard]] Manifest with(std::int64_t batches) const {
    Manifest changed = manifest_;
    changed.info.statistics.matrices.at(0).batches = batches;
    return changed;
  }

  Folder folder_;
  std::string file_ = folder_.file("part.h5");
  std::vector<Part> parts_;
  Manifest manifest_;
};

// Nothing is allocated for rows that the file does not have.
TEST_F(HostileBatches, NumbersAreChecked) {
  write(parts_[0]);
  read(manifest_);
  for (const std::int64_t batches : {0, 1, 2, 4, 1000, std::numeric_limits<std::int32_t>::max()})
    EXPECT_THAT(refusal([&] { read(with(batches)); }), HasSubstr("part.h5")) << batches;
  Manifest older = manifest_;
  older.version = blocks_version;
  EXPECT_THAT(refusal([&] { read(parse_manifest(manifest_text(older), "manifest.json")); }), HasSubstr("part.h5"));
  EXPECT_EQ(parse_manifest(manifest_text(manifest_), "manifest.json").info.statistics.matrices.at(0).batches, 3);
  for (const std::int64_t batches : {std::int64_t{-1}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    Manifest wrong = with(batches);
    EXPECT_THAT(refusal([&] { (void)parse_manifest(manifest_text(wrong), "manifest.json"); }),
                HasSubstr("'batches' is out of range"));
  }
  for (const std::int64_t batches : {0, 2, 1000}) {
    Manifest wrong = with(batches);
    EXPECT_THAT(refusal([&] { (void)parse_manifest(manifest_text(wrong), "manifest.json"); }),
                HasSubstr("no dimension counts the batches"));
  }
}

TEST_F(HostileBatches, PointersAreChecked) {
  const auto refused_with = [&](const std::function<void(PartMatrix&)>& change) {
    write(parts_[0]);
    Part part = read_part(FileHandle::open_in_folder(file_), manifest_, 0);
    change(part.matrices.at("X"));
    write(part);
    return refusal([&] { read(manifest_); });
  };
  EXPECT_THAT(refused_with([](PartMatrix& m) { m.row_pointers[m.row_pointers.size() / 3] = 1 << 20; }),
              HasSubstr("row pointers do not ascend"));
  EXPECT_THAT(refused_with([](PartMatrix& m) { ++m.row_pointers.back(); }), HasSubstr("row pointers do not ascend"));
  EXPECT_THAT(refused_with([](PartMatrix& m) { m.columns.back() = 1 << 20; }), HasSubstr("columns do not ascend"));
}

// Nonzeros of batches come into memory.
TEST(BatchBundles, DoNotStayOnTheDisk) {
  std::vector<Edge> lines;
  for (std::int64_t k = 0; k < 900'000; ++k) lines.emplace_back(k % 3000, k / 3000);
  std::vector<DimData> dims = dims_with(3);
  const std::vector<Part> parts = cut(dims, inputs_of(batched(lines, 3000, 300)), {});
  const Folder folder;
  const std::string bundle = folder.file("b");
  (void)write_bundle(bundle, parts, {.workers = 1, .dims = {"T", "N", "F"}}, false);
  PartsWanted wanted;
  wanted.streamed = [](const std::string&) { return true; };
  EXPECT_THAT(refusal([&] { (void)read_parts(bundle, 0, 1, wanted); }),
              AllOf(HasSubstr("entries of 'X'"), HasSubstr("batches")));
}

}  // namespace
}  // namespace kasen
