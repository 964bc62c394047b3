#include "libcomm/data/bundle/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include "libcomm/data/base/element_text.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/compress/compress.h"
#include "libcore/base/error.h"
#include "tests/data/bundle_cases.h"
#include "tests/data/partition_cases.h"
#include "tests/data/refusal.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using testing::refusal;

namespace fs = std::filesystem;

class Bundle : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::size_t entries() const { return folder_.entries(); }

  cases::Folder folder_;
};

void expect_equal(const Array& a, const Array& b) {
  EXPECT_EQ(a.count, b.count);
  if (a.count == 0) return;
  EXPECT_EQ(a.element, b.element);
  ASSERT_EQ(a.bytes.size(), b.bytes.size());
  EXPECT_TRUE(std::equal(a.bytes.data(), a.bytes.data() + a.bytes.size(), b.bytes.data()));
}

void expect_equal(const AxisSlaves& a, const AxisSlaves& b) {
  EXPECT_EQ(a.slaves, b.slaves);
  EXPECT_EQ(a.slave_owners, b.slave_owners);
  EXPECT_EQ(a.mirrors, b.mirrors);
  EXPECT_EQ(a.mirror_holders, b.mirror_holders);
}

void expect_equal(const Part& a, const Part& b) {
  EXPECT_EQ(a.worker, b.worker);
  EXPECT_EQ(a.workers, b.workers);
  ASSERT_EQ(a.dims.size(), b.dims.size());
  for (const auto& [name, dim] : a.dims) {
    EXPECT_EQ(dim.size, b.dims.at(name).size);
    EXPECT_EQ(dim.local, b.dims.at(name).local);
    EXPECT_EQ(dim.masters, b.dims.at(name).masters);
    EXPECT_EQ(dim.original, b.dims.at(name).original);
  }
  ASSERT_EQ(a.matrices.size(), b.matrices.size());
  for (const auto& [name, m] : a.matrices) {
    const PartMatrix& n = b.matrices.at(name);
    EXPECT_EQ(m.row_dim, n.row_dim);
    EXPECT_EQ(m.col_dim, n.col_dim);
    EXPECT_EQ(m.element, n.element);
    EXPECT_EQ(m.row_pointers, n.row_pointers);
    EXPECT_EQ(m.columns, n.columns);
    expect_equal(m.values, n.values);
    expect_equal(m.row_slaves, n.row_slaves);
    expect_equal(m.col_slaves, n.col_slaves);
  }
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (const auto& [name, array] : a.arrays) {
    EXPECT_EQ(array.dims, b.arrays.at(name).dims);
    expect_equal(array.data, b.arrays.at(name).data);
  }
}

void overwrite(const std::string& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

TEST_F(Bundle, GivesBackWhatWasWritten) {
  for (const int workers : {1, 2, 3, 4, 16}) {
    const auto parts = cases::rich_parts(workers);
    const BundleInfo written = write_bundle(path("b"), parts, cases::rich_info(workers), true);
    const auto read = read_parts(path("b"), 0, workers);
    ASSERT_EQ(read.size(), parts.size());
    for (std::size_t w = 0; w < parts.size(); ++w) expect_equal(parts[w], read[w]);
    const BundleInfo info = read_bundle_info(path("b"));
    EXPECT_EQ(info.digest, written.digest);
    EXPECT_EQ(info.workers, workers);
    EXPECT_EQ(info.method, "hybrid-cut");
    EXPECT_EQ(info.theta, 4);
    EXPECT_EQ(info.hash, owner_hash_name);
    EXPECT_EQ(info.sources, cases::rich_info(workers).sources);
    EXPECT_EQ(info.notes, cases::rich_info(workers).notes);
    EXPECT_EQ(info.dims, cases::rich_info(workers).dims);
    EXPECT_EQ(info.dictionaries, cases::rich_info(workers).dictionaries);
    EXPECT_EQ(info.statistics, statistics(parts));
    EXPECT_EQ(entries(), 1U);
  }
}

// Rows and columns of a table that is worth compressing, and one that is not; rows of the last parts are none.
std::vector<Part> compressed_parts(int workers, std::int64_t rows) {
  std::vector<InputData> inputs;
  inputs.push_back(cases::table("X", {"N", "F"}, ElementType::of(Scalar::f64), rows, 4));
  for (std::int64_t k = 0; k < rows * 4; ++k) {
    const std::int64_t r = k / 4;
    const std::int64_t cells[] = {r % 5, r / 100, r % 40 == 3 ? r : 0, r * r};
    inputs[0].table.values.as<double>()[k] = static_cast<double>(cells[k % 4]);
  }
  inputs.push_back(cases::table("Y", {"N", "F"}, ElementType::of(Scalar::f64), rows, 4));
  inputs.push_back(cases::table("T", {"F", "N"}, ElementType::of(Scalar::f64), 4, rows));
  inputs.push_back(cases::table("v", {"N"}, ElementType::of(Scalar::f64), rows, 1));
  inputs.push_back(cases::table("W", {"N", "M"}, ElementType::of(Scalar::f64), rows, 2));
  std::vector<DimData> dims{{.name = "N"}, {.name = "F", .local = true}, {.name = "M"}};
  return partition(dims, std::move(inputs), {.workers = workers});
}

TEST_F(Bundle, GivesBackCompressedArrays) {
  for (const auto& [workers, rows] : {std::pair{1, 3000}, {3, 3000}, {4, 9}, {64, 6000}}) {
    const auto dense = compressed_parts(workers, rows);
    auto parts = compressed_parts(workers, rows);
    const std::vector<CompressionReport> reports = compress(parts);
    ASSERT_EQ(reports.size(), 2U);  // those that can be
    const bool smaller = rows > 1000;
    for (const Part& part : parts) {
      EXPECT_EQ(part.arrays.at("X").compressed.has_value(), smaller);
      EXPECT_FALSE(part.arrays.at("Y").compressed.has_value());
    }
    (void)write_bundle(path("b"), parts, {.workers = workers, .method = "block"}, true);
    const std::string manifest = cases::content(path("b/manifest.json"));
    EXPECT_NE(manifest.find(fmt::format("\"kasen_bundle\": {}", smaller ? 5 : 6)), std::string::npos);
    auto read = read_parts(path("b"), 0, workers);
    const Part lists = read_part_lists(path("b"), workers - 1);
    const auto bytes = compressed_bytes(lists.arrays.at("X"));
    ASSERT_EQ(bytes.has_value(), smaller);
    if (smaller) {
      const auto whole = compressed_bytes(parts.back().arrays.at("X"));
      EXPECT_EQ(bytes->stored, whole->stored);
      EXPECT_EQ(bytes->distinct, whole->distinct);
    }
    for (std::size_t w = 0; w < read.size(); ++w) {
      EXPECT_EQ(read[w].arrays.at("X").compressed.has_value(), smaller);
      expand(read[w], {"X"});
      EXPECT_EQ(read[w].arrays.at("X").compressed.has_value(), smaller);
      expand(read[w]);
      expect_equal(dense[w], read[w]);
    }
  }
}

// Where the other parts get smaller, one that does not has its columns in one plain group; one may have no rows.
TEST_F(Bundle, CompressesAllPartsOrNone) {
  auto parts = compressed_parts(3, 6000);
  Array& mixed = parts[1].arrays.at("X").data;
  for (std::int64_t k = 0; k < mixed.count; ++k) mixed.as<double>()[k] = static_cast<double>(k) + 0.25;
  parts[2].dims.at("N").masters = {};
  parts[2].arrays.at("X").data = Array(ElementType::of(Scalar::f64), 0);
  Array before(mixed.element, mixed.count);
  std::copy_n(mixed.as<double>(), mixed.count, before.as<double>());
  (void)compress(parts);
  for (const std::size_t w : {1U, 2U}) {
    const auto& array = parts[w].arrays.at("X").compressed;
    ASSERT_TRUE(array.has_value());
    ASSERT_EQ(array->groups.size(), 1U);
    EXPECT_EQ(array->groups[0].format, GroupFormat::plain);
    EXPECT_EQ(fault_of(*array), "");
    expand(parts[w]);
  }
  EXPECT_TRUE(parts[0].arrays.at("X").compressed.has_value());
  expect_equal(parts[1].arrays.at("X").data, before);
  EXPECT_EQ(parts[2].arrays.at("X").data.count, 0);
}

TEST_F(Bundle, ReadsSomeParts) {
  const auto parts = cases::rich_parts(4);
  (void)write_bundle(path("b"), parts, cases::rich_info(4), false);
  const auto read = read_parts(path("b"), 1, 2);
  ASSERT_EQ(read.size(), 2U);
  expect_equal(parts[1], read[0]);
  expect_equal(parts[2], read[1]);
}

TEST_F(Bundle, IsTheSameBytesEveryTime) {
  (void)write_bundle(path("a"), cases::rich_parts(3), cases::rich_info(3), false);
  (void)write_bundle(path("b"), cases::rich_parts(3), cases::rich_info(3), false);
  for (const char* file : {"/manifest.json", "/part-0000.h5", "/part-0001.h5", "/part-0002.h5"})
    EXPECT_EQ(cases::content(path("a") + file), cases::content(path("b") + file)) << file;
}

TEST_F(Bundle, HasEmptyParts) {
  std::vector<DimData> dims{{.name = "N"}};
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", {{5, 9}}));
  const auto parts = partition(dims, std::move(inputs), {.workers = 8});
  (void)write_bundle(path("b"), parts, {.workers = 8, .method = "hybrid-cut"}, false);
  const auto read = read_parts(path("b"), 0, 8);
  for (std::size_t w = 0; w < 8; ++w) expect_equal(parts[w], read[w]);
}

TEST_F(Bundle, LeavesNothingBehindWithoutFinish) {
  {
    BundleWriter writer(path("b"), cases::rich_info(2), false);
    writer.add(cases::rich_parts(2)[0]);
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Bundle, RefusesToOverwriteUnlessAsked) {
  const auto parts = cases::rich_parts(2);
  (void)write_bundle(path("b"), parts, cases::rich_info(2), false);
  const std::string before = cases::content(path("b/manifest.json"));
  EXPECT_NE(refusal([&] { (void)write_bundle(path("b"), cases::rich_parts(3), cases::rich_info(3), false); },
                    ExitStatus::cannot_create)
                .find("already exists"),
            std::string::npos);
  EXPECT_EQ(cases::content(path("b/manifest.json")), before);
  {
    BundleWriter writer(path("b/"), cases::rich_info(3), true);
    writer.add(cases::rich_parts(3)[0]);
    EXPECT_EQ(cases::content(path("b/manifest.json")), before);
    EXPECT_EQ(read_parts(path("b"), 0, 2).size(), 2U);
  }
  EXPECT_EQ(cases::content(path("b/manifest.json")), before);
  (void)write_bundle(path("b"), cases::rich_parts(3), cases::rich_info(3), true);
  EXPECT_EQ(read_bundle_info(path("b")).workers, 3);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Bundle, ReplacesNothingButBundles) {
  fs::create_directories(path("mine"));
  overwrite(path("mine/letter.txt"), "dear");
  EXPECT_NE(refusal([&] { (void)write_bundle(path("mine"), cases::rich_parts(2), cases::rich_info(2), true); },
                    ExitStatus::cannot_create)
                .find("not a bundle"),
            std::string::npos);
  EXPECT_EQ(cases::content(path("mine/letter.txt")), "dear");
  EXPECT_EQ(entries(), 1U);
  overwrite(path("file"), "x");
  (void)refusal([&] { (void)write_bundle(path("file"), cases::rich_parts(2), cases::rich_info(2), true); },
                ExitStatus::cannot_create);
  EXPECT_EQ(cases::content(path("file")), "x");
}

TEST_F(Bundle, NeedsAFolderToStandIn) {
  (void)refusal([&] { (void)write_bundle(path("none/b"), cases::rich_parts(1), cases::rich_info(1), false); },
                ExitStatus::cannot_create);
}

TEST_F(Bundle, NoticesEveryFlippedBit) {
  (void)write_bundle(path("b"), cases::rich_parts(2), cases::rich_info(2), false);
  const std::string file = path("b/part-0001.h5"), good = cases::content(file);
  for (std::size_t at = 0; at < good.size(); at += 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    overwrite(file, bad);
    EXPECT_NE(refusal([&] { (void)read_parts(path("b"), 1, 1); }).find("part-0001.h5"), std::string::npos);
  }
  overwrite(file, good);
  EXPECT_EQ(read_parts(path("b"), 1, 1).size(), 1U);
}

TEST_F(Bundle, GivesListsWithoutWhatArraysHold) {
  (void)write_bundle(path("b"), cases::rich_parts(2), cases::rich_info(2), false);
  const std::vector<Part> parts = read_parts(path("b"), 1, 1);
  const Part& whole = parts.at(0);
  const Part lists = read_part_lists(path("b"), 1);
  EXPECT_EQ(lists.worker, 1);
  ASSERT_EQ(lists.matrices.size(), whole.matrices.size());
  for (const auto& [name, m] : whole.matrices) {
    const PartMatrix& same = lists.matrices.at(name);
    EXPECT_EQ(same.columns, m.columns);
    EXPECT_EQ(same.row_pointers, m.row_pointers);
    EXPECT_EQ(same.row_slaves.slaves, m.row_slaves.slaves);
    EXPECT_EQ(same.col_slaves.mirrors, m.col_slaves.mirrors);
    EXPECT_EQ(same.values.count, 0);
  }
  ASSERT_EQ(lists.arrays.size(), whole.arrays.size());
  for (const auto& [name, array] : whole.arrays) {
    EXPECT_EQ(lists.arrays.at(name).dims, array.dims);
    EXPECT_EQ(lists.arrays.at(name).data.count, 0);
  }
  for (const auto& [name, dim] : whole.dims) EXPECT_EQ(lists.dims.at(name).masters, dim.masters);
  const std::string file = path("b/part-0001.h5"), good = cases::content(file);
  overwrite(file, good.substr(0, good.size() - 1));
  EXPECT_NE(refusal([&] { (void)read_part_lists(path("b"), 1); }).find("cut off"), std::string::npos);
}

TEST_F(Bundle, NoticesEveryFlippedBitOfTheManifest) {
  (void)write_bundle(path("b"), cases::rich_parts(2), cases::rich_info(2), false);
  const std::string file = path("b/manifest.json"), good = cases::content(file);
  for (std::size_t at = 0; at < good.size(); at += 3) {
    if (good[at] == '\n' || good[at] == ' ') continue;  // white space between tokens says nothing
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    overwrite(file, bad);
    EXPECT_NE(refusal([&] { (void)read_bundle_info(path("b")); }).find("manifest.json"), std::string::npos) << at;
  }
}

TEST_F(Bundle, NoticesMissingTruncatedAndForeignFiles) {
  (void)write_bundle(path("b"), cases::rich_parts(3), cases::rich_info(3), false);
  (void)write_bundle(path("c"), cases::rich_parts(3, 9), cases::rich_info(3), false);
  const std::string file = path("b/part-0002.h5"), good = cases::content(file);
  overwrite(file, good.substr(0, good.size() / 2));
  EXPECT_NE(refusal([&] { (void)read_parts(path("b"), 0, 3); }).find("cut off"), std::string::npos);
  fs::copy_file(path("c/part-0002.h5"), file, fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal([&] { (void)read_parts(path("b"), 0, 3); }).find("part-0002.h5"), std::string::npos);
  fs::remove(file);
  EXPECT_NE(refusal([&] { (void)read_parts(path("b"), 0, 3); }).find("part-0002.h5' is missing"), std::string::npos);
  EXPECT_EQ(read_parts(path("b"), 0, 2).size(), 2U);
  fs::remove(path("b/manifest.json"));
  EXPECT_NE(refusal([&] { (void)read_bundle_info(path("b")); }).find("not a bundle"), std::string::npos);
  (void)refusal([&] { (void)read_bundle_info(path("nowhere")); }, ExitStatus::missing_input);
}

// What `partition --replace` puts in its place while it is read is told as that, not as damage.
TEST_F(Bundle, TellsThatItWasReplacedWhileItWasRead) {
  (void)write_bundle(path("b"), cases::rich_parts(3), cases::rich_info(3), false);
  (void)write_bundle(path("c"), cases::rich_parts(3, 9), cases::rich_info(3), false);
  std::atomic<bool> over{false};
  std::thread replacing([&] {
    while (!over) {
      renameat2(AT_FDCWD, path("b").c_str(), AT_FDCWD, path("c").c_str(), RENAME_EXCHANGE);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  int replaced = 0;
  for (int iteration = 0; iteration < 5000 && replaced < 3; ++iteration) {
    try {
      EXPECT_EQ(read_parts(path("b"), 0, 3).size(), 3U);
    } catch (const UserError& error) {
      const std::string text = error.what();
      // Where it is the first again when its manifest is looked at, nothing tells.
      if (text.find("was replaced while it was read") != std::string::npos) ++replaced;
    }
  }
  over = true;
  replacing.join();
  EXPECT_EQ(replaced, 3);
}

// A folder of version 1 and one of version 2, as Kasen wrote them before it listed neighbours alone.
TEST_F(Bundle, OfOlderVersionsAreRead) {
  for (const auto& [name, compressed] : {std::pair{"bundle-1", false}, {"bundle-2", true}}) {
    const std::string old = std::string(KASEN_DATASETS "/../tests/data/older/") + name;
    const BundleInfo info = read_bundle_info(old);
    const std::vector<Part> parts = read_parts(old, 0, info.workers);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].arrays.at("X").compressed.has_value(), compressed);
    EXPECT_TRUE(parts[0].dims.at("M").whole);
    EXPECT_FALSE(parts[0].matrices.at("G").row_slaves.slaves.empty());
    BundleInfo again{.workers = info.workers, .method = info.method, .theta = info.theta, .dims = info.dims};
    (void)write_bundle(path("again"), parts, again, true);
    const std::vector<Part> read = read_parts(path("again"), 0, info.workers);
    for (std::size_t w = 0; w < read.size(); ++w) {
      expect_equal(parts[w].matrices.at("G").row_slaves, read[w].matrices.at("G").row_slaves);
      expect_equal(parts[w].matrices.at("G").col_slaves, read[w].matrices.at("G").col_slaves);
      EXPECT_EQ(parts[w].dims.at("M").other_owners, read[w].dims.at("M").other_owners);
      EXPECT_EQ(parts[w].dims.at("M").others, read[w].dims.at("M").others);
    }
  }
}

// Of a few edges on a thousand workers: what a part holds depends on its neighbours, not on how many workers there are.
TEST_F(Bundle, OfManyWorkersIsSmall) {
  constexpr int workers = 1024;
  std::vector<DimData> dims{{.name = "N"}};
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", cases::random_edges(100, 100, 60, 1)));
  const std::vector<Part> parts = partition(dims, std::move(inputs), {.workers = workers, .theta = 4});
  Manifest manifest;
  for (const Part& part : parts) add_to_manifest(manifest, part);
  manifest.info.workers = workers;
  manifest.info.dims = {"N"};
  std::uintmax_t largest = 0;
  for (const std::size_t w : {std::size_t{0}, std::size_t{500}, std::size_t{1023}}) {
    const std::string file = path("part-" + std::to_string(w));
    (void)write_part(file, parts[w], manifest);
    expect_equal(parts[w], read_part(FileHandle::open_in_folder(file), manifest, static_cast<int>(w)));
    largest = std::max(largest, fs::file_size(file));
  }
  EXPECT_LT(largest, 10000U);  // 41,000 with a number for each worker
  check_together(parts, "all of them");
}

// A matrix of 40 x 20,000 numbers and a vector of the latter, which all workers get whole.
TEST_F(Bundle, ListsNoOwnersInRuns) {
  constexpr int workers = 4;
  std::vector<Part> parts;
  for (int w = 0; w < workers; ++w) {
    Part& part = parts.emplace_back(Part{.worker = w, .workers = workers});
    PartDim& dim = part.dims["M"] = {.size = 20'000, .whole = true};
    std::vector<std::int64_t> masters, others;
    for (std::int64_t i = 0; i < dim.size; ++i) (i / 6000 == w ? masters : others).push_back(i);
    dim.masters = IndexList(std::move(masters));
    for (std::int32_t peer = 0, begin = 0; peer < workers; ++peer) {
      const std::int32_t count = peer == 3 ? 2000 : 6000;
      if (peer != w) dim.other_owners.push_back({peer, begin, begin + count});
      if (peer != w) begin += count;
    }
    dim.others = IndexList(std::move(others));
  }
  (void)write_bundle(path("b"), parts, {.workers = workers, .method = "block", .dims = {"M"}}, false);
  EXPECT_NE(cases::content(path("b/manifest.json")).find("\"kasen_bundle\": 5"), std::string::npos);
  const std::vector<Part> read = read_parts(path("b"), 0, workers);
  for (std::size_t w = 0; w < workers; ++w) {
    EXPECT_LT(fs::file_size(path("b/" + part_file_name(static_cast<int>(w)))), 4000U);
    EXPECT_EQ(read[w].dims.at("M").masters, parts[w].dims.at("M").masters);
    EXPECT_EQ(read[w].dims.at("M").others, parts[w].dims.at("M").others);
    EXPECT_EQ(read[w].dims.at("M").other_owners, parts[w].dims.at("M").other_owners);
    EXPECT_EQ(read_part_lists(path("b"), static_cast<int>(w)).dims.at("M").others, parts[w].dims.at("M").others);
  }
}

TEST_F(Bundle, RefusesManifestsThatAreNone) {
  (void)write_bundle(path("b"), cases::rich_parts(1), cases::rich_info(1), false);
  const std::string file = path("b/manifest.json"), good = cases::content(file);
  std::vector<std::string> bads{"", "{", "[]", "null", "{}", good.substr(0, good.size() - 3), std::string(100000, '[')};
  bads.emplace_back(R"({"kasen_bundle": 1})");
  bads.emplace_back(R"({"kasen_bundle": -1, "digest": "", "content": {}})");
  bads.emplace_back(R"({"kasen_bundle": 1, "digest": 5, "content": {}})");
  for (const std::string& bad : bads) {
    overwrite(file, bad);
    EXPECT_NE(refusal([&] { (void)read_bundle_info(path("b")); }).find("manifest.json"), std::string::npos)
        << bad.substr(0, 40);
  }
  overwrite(file, R"({"kasen_bundle": 8, "new": true})");
  EXPECT_NE(refusal([&] { (void)read_bundle_info(path("b")); }).find("version 8"), std::string::npos);
}

TEST(ElementText, IsReadBack) {
  const std::vector<std::string> dims{"N", "M"};
  for (const char* text :
       {"f64", "f32", "i64", "i32", "bool", "null", "id[M]", "[f64; 3]", "(i64, [f64; 3])", "(id[N], bool)"}) {
    const auto element = parse_element(text, dims);
    ASSERT_TRUE(element.has_value()) << text;
    EXPECT_EQ(element_text(*element, dims), text);
  }
  for (const char* text : {"", "f65", "f64 ", "[f64; 0]", "[f64; -1]", "[f64; 99999999999999999999]", "[f64;3]", "(f64",
                           "id[Q]", "id", "()", "[f64; 1048577]"})
    EXPECT_FALSE(parse_element(text, dims).has_value()) << text;
}

}  // namespace
}  // namespace kasen
