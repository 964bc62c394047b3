// Arrays that stay in their files: bundles that refer to them give what copies give, and refuse manifests that were
// changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/read/npy_header.h"
#include "libcore/base/error.h"
#include "libcore/system/mapped_file.h"
#include "tests/data/mutate_json.h"
#include "tests/data/partition_cases.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using testing::Json;
using testing::Mutator;

TEST(BlockDigest, IsThatOfTheDigestsOfItsBlocks) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, BlockDigest::block, BlockDigest::block + 5}) {
    std::string text(static_cast<std::size_t>(bytes), 'a');
    std::iota(text.begin(), text.end(), char{1});
    BlockDigest digest(bytes);
    std::string all;
    for (std::int64_t k = digest.blocks(); k-- > 0;) {  // in any order
      const std::string block =
          text.substr(static_cast<std::size_t>(k * BlockDigest::block), static_cast<std::size_t>(digest.bytes_of(k)));
      digest.set(k, block.data());
      all.insert(0, digest_of(block));
    }
    EXPECT_EQ(digest.blocks(), (bytes + BlockDigest::block - 1) / BlockDigest::block);
    EXPECT_EQ(digest.hex(), digest_of(all)) << bytes;
  }
}

class StoredTables : public ::testing::Test {
 protected:
  // The file of `count` numbers, and the input that reads it.
  template <class T>
  InputData input(const std::string& name, std::vector<std::string> dims, const ElementType& element,
                  const std::vector<std::int64_t>& extents, bool stays) {
    std::int64_t count = 1;
    for (const std::int64_t e : extents) count *= e;
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<T>(k * k % 1009) / T{8};
    std::string text = npy_header(sizeof(T) == 8 ? "<f8" : "<f4", extents);
    text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
    folder_.write(name, text);
    RawTable table =
        read_table(folder_.file(name),
                   {.element = ElementType::of(element.components[0].scalar), .sparse = false, .may_stay = stays});
    EXPECT_EQ(table.stored.has_value(), stays && count > 0);
    return {.name = name, .dims = std::move(dims), .element = element, .table = std::move(table)};
  }

  std::vector<Part> parts(std::int64_t rows, int workers, std::map<std::string, StoredTable>* stored) {
    const ElementType f64 = ElementType::of(Scalar::f64), points = ElementType::array(Scalar::f32, 3);
    std::vector<InputData> inputs;
    inputs.push_back(input<double>("X", {"N", "K"}, f64, {rows, 2}, stored != nullptr));
    inputs.push_back(input<float>("P", {"N"}, points, {rows, 3}, stored != nullptr));
    inputs.push_back(input<double>("all", {"K"}, f64, {2}, stored != nullptr));
    inputs.push_back(input<double>("back", {"K", "N"}, f64, {2, rows}, stored != nullptr));  // no rows of N
    std::vector<DimData> dims{{.name = "N"}, {.name = "K", .local = true}};
    return partition(dims, std::move(inputs), {.workers = workers, .stored = stored});
  }

  // The bundle "b" of such arrays; what copies of them give.
  std::vector<Part> write(std::int64_t rows, int workers) {
    std::vector<Part> whole = parts(rows, workers, nullptr);
    BundleInfo info{.workers = workers, .method = "block"};
    const std::vector<Part> there = parts(rows, workers, &info.stored);
    (void)write_bundle(folder_.file("b"), there, info, true);
    return whole;
  }

  static bool same(const Array& a, const Array& b) {
    return a.count == b.count && a.element == b.element && a.bytes.size() == b.bytes.size() &&
           (a.count == 0 || std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<std::size_t>(a.bytes.size())) == 0);
  }
  static bool same(const Part& a, const Part& b) {
    return std::all_of(a.dims.begin(), a.dims.end(),
                       [&](const auto& dim) { return dim.second.masters == b.dims.at(dim.first).masters; }) &&
           std::all_of(a.arrays.begin(), a.arrays.end(),
                       [&](const auto& array) { return same(array.second.data, b.arrays.at(array.first).data); });
  }

  cases::Folder folder_;
};

TEST_F(StoredTables, GiveWhatCopiesGive) {
  for (const auto& [rows, workers] : {std::pair{1, 1}, {50, 1}, {50, 3}, {5, 8}, {90'000, 2}}) {
    const std::vector<Part> whole = write(rows, workers);
    const BundleInfo info = read_bundle_info(folder_.file("b"));
    ASSERT_EQ(info.stored.size(), 3U);
    EXPECT_FALSE(info.stored.contains("back"));
    EXPECT_EQ(info.statistics, statistics(whole));
    const std::vector<Part> read = read_parts(folder_.file("b"), 0, workers);
    for (std::size_t w = 0; w < read.size(); ++w) EXPECT_TRUE(same(read[w], whole[w])) << rows << " " << w;
    const std::vector<Part> last = read_parts(folder_.file("b"), workers - 1, 1);
    EXPECT_TRUE(same(last[0], whole.back()));
    EXPECT_EQ(read_dims(folder_.file("b")).back().at("N").masters, whole.back().dims.at("N").masters);
    EXPECT_EQ(read_part_lists(folder_.file("b"), 0).arrays.at("X").data.count, 0);
  }
}

// Where rows lie in the file as they do in memory, parts are the file's pages, and else copies.
TEST_F(StoredTables, AreMappedWhereTheyLieAsInMemory) {
  for (const auto& [rows, workers] : {std::pair{3, 1}, {90'000, 1}, {90'000, 2}, {90'002, 3}}) {
    const std::vector<Part> whole = write(rows, workers);
    MappedTables mapped;
    const std::vector<Part> read = read_parts(folder_.file("b"), 0, workers, {.mapped = &mapped});
    for (std::size_t w = 0; w < read.size(); ++w) {
      const auto& arrays = read[w].arrays;
      const std::int64_t first = w == 0 ? 0 : whole[w].dims.at("N").masters[0];
      const bool lies_well = first * 16 % 64 == 0, many = arrays.at("X").data.count * 8 >= 1 << 16;
      const Array& x = arrays.at("X").data;
      const char* const name = name_of_mapped_file(x.plane(0));
      EXPECT_EQ(name != nullptr, lies_well && many) << rows << " " << w;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.plane(0)) % 64, 0U);
      if (name != nullptr) {
        EXPECT_EQ(name, std::filesystem::canonical(folder_.file("X")).string());
      }
      EXPECT_EQ(name_of_mapped_file(arrays.at("P").data.plane(0)), nullptr);    // in planes
      EXPECT_EQ(name_of_mapped_file(arrays.at("all").data.plane(0)), nullptr);  // small
      const Array& copy = whole[w].arrays.at("X").data;
      EXPECT_EQ(std::memcmp(x.plane(0), copy.plane(0), static_cast<std::size_t>(8 * x.count)), 0);
    }
    EXPECT_NO_THROW(mapped.check());
  }
}

// Whoever writes the file while it is mapped is found: by its time, or, where somebody set that back, by the content.
TEST_F(StoredTables, MappedFilesThatAreWrittenAreFound) {
  const auto refused = [](const MappedTables& mapped) {
    try {
      mapped.check();
    } catch (const UserError& error) {
      return error.status() == ExitStatus::bad_input && std::string(error.what()).find("written") != std::string::npos;
    }
    return false;
  };
  namespace fs = std::filesystem;
  const std::string file = folder_.file("X");
  for (const bool content : {false, true}) {
    for (const bool time : {false, true}) {
      (void)write(90'000, 1);
      MappedTables mapped;
      const std::vector<Part> read = read_parts(folder_.file("b"), 0, 1, {.mapped = &mapped});
      const auto before = fs::last_write_time(file);
      if (content) std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(700'000).put('?');
      fs::last_write_time(file, time ? before + std::chrono::seconds(1) : before);
      EXPECT_EQ(refused(mapped), content || time);
      const auto* const held = reinterpret_cast<const char*>(read[0].arrays.at("X").data.plane(0));
      EXPECT_EQ(held[700'000 - 128] == '?', content);
    }
  }
  (void)write(90'000, 1);
  MappedTables mapped;
  const std::vector<Part> read = read_parts(folder_.file("b"), 0, 1, {.mapped = &mapped});
  fs::rename(file, folder_.file("Y"));  // another file of this name is none of ours
  folder_.write("X", "other");
  EXPECT_FALSE(refused(mapped));
}

// With the digest of its text that fits: the manifest is held against the files. Its entries of arrays alone state
// which file is which array, and the form of its elements; with the right ones, the elements are the right ones.
TEST_F(StoredTables, RefuseChangedManifests) {
  const std::vector<Part> whole = write(50, 2);
  const Json good = Json::parse(cases::content(folder_.file("b/manifest.json")));
  Mutator mutator(5);
  int refused = 0;
  for (int trial = 0; trial < 600 && !HasFailure(); ++trial) {
    const std::string changed = testing::changed_manifest(good, mutator);
    folder_.write("b/manifest.json", changed);
    try {
      const std::vector<Part> read = read_parts(folder_.file("b"), 0, read_bundle_info(folder_.file("b")).workers);
      const bool as_written = Json::parse(changed)["content"]["arrays"] == good["content"]["arrays"];
      for (std::size_t w = 0; w < read.size() && as_written; ++w)
        for (const auto& [name, array] : read[w].arrays)
          EXPECT_TRUE(same(array.data, whole[w].arrays.at(name).data)) << changed;
    } catch (const UserError& error) {
      ++refused;
      EXPECT_NE(error.status(), ExitStatus::internal);
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace kasen
