// Bundles of dense arrays alone: any number of workers reads what a bundle made for that number has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/read/npy_header.h"
#include "libcore/base/error.h"
#include "libcore/system/mapped_file.h"
#include "tests/data/mutate_json.h"
#include "tests/data/partition_cases.h"
#include "tests/data/refusal.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using testing::Json;
using testing::refusal;

// What stands behind the elements, up to a multiple of 64 bytes, is anything in a file's own pages.
bool equal_elements(const Array& a, const Array& b) {
  if (a.count != b.count || a.element != b.element) return false;
  for (std::int64_t p = 0; p < a.element.planes() && a.count > 0; ++p) {
    const auto bytes = static_cast<std::size_t>(a.count * scalar_bytes(a.element.plane_scalar(p)));
    if (std::memcmp(a.plane(p), b.plane(p), bytes) != 0) return false;
  }
  return true;
}

class WholeArrays : public ::testing::Test {
 protected:
  // Tuples of a worker's indices, each of its index.
  static PartArray tuples(const Part& part) {
    const ElementType element{
        .components = {{Scalar::i64, no_dim, 0}, {Scalar::f32, no_dim, 3}, {Scalar::boolean, no_dim, 0}},
        .tuple = true};
    const IndexList& masters = part.dims.at("N").masters;
    Array data(element, masters.size());
    for (std::int64_t k = 0; k < masters.size(); ++k) {
      data.as<std::int64_t>(0)[k] = masters[k];
      for (int p = 1; p < 4; ++p) data.as<float>(p)[k] = static_cast<float>(masters[k] * 4 + p);
      data.as<std::uint8_t>(4)[k] = static_cast<std::uint8_t>(masters[k] % 2);
    }
    return {.dims = {"N"}, .data = std::move(data)};
  }

  // A worker's indices as numbers of one type.
  static PartArray numbers(const Part& part, const ElementType& element) {
    const IndexList& masters = part.dims.at("N").masters;
    Array data(element, masters.size());
    const std::int64_t width = scalar_bytes(element.plane_scalar(0));
    for (std::int64_t k = 0; k < masters.size(); ++k) {
      const std::int64_t number = width == 1 ? masters[k] % 2 : masters[k];
      std::memcpy(data.plane(0) + k * width, &number, static_cast<std::size_t>(width));
    }
    return {.dims = {"N"}, .data = std::move(data)};
  }

  static std::vector<Part> parts(std::int64_t rows, int workers) {
    const ElementType f64 = ElementType::of(Scalar::f64);
    std::vector<InputData> inputs;
    inputs.push_back(cases::table("X", {"N", "K"}, f64, rows, 3));
    inputs.push_back(cases::table("back", {"K", "N"}, f64, 3, rows));
    inputs.push_back(cases::table("square", {"M", "N"}, f64, 7, rows));  // whole along N
    inputs.push_back(cases::table("points", {"N"}, ElementType::array(Scalar::f64, 3), rows, 3));
    inputs.push_back(cases::table("all", {"K"}, f64, 3, 1));
    std::vector<DimData> dims{
        {.name = "N", .whole = true}, {.name = "K", .local = true, .size = 3}, {.name = "M", .size = 7}};
    std::vector<Part> made = partition(dims, std::move(inputs), {.workers = workers});
    for (Part& part : made) {
      part.arrays["tuples"] = tuples(part);
      part.arrays["ids"] = numbers(part, ElementType::id(DimId{0}));
      for (const Scalar scalar : {Scalar::f32, Scalar::i64, Scalar::i32, Scalar::boolean})
        part.arrays[std::string(scalar_name(scalar))] = numbers(part, ElementType::of(scalar));
    }
    return made;
  }

  BundleInfo write(std::int64_t rows, int workers) {
    return write_bundle(bundle(), parts(rows, workers), {.workers = workers, .method = "block"}, true);
  }

  [[nodiscard]] std::string bundle() const { return folder_.file("b"); }
  [[nodiscard]] std::string arrays() const { return folder_.file("b/arrays.h5"); }

  static void expect_equal(std::span<const Part> read, std::span<const Part> wanted) {
    ASSERT_EQ(read.size(), wanted.size());
    for (std::size_t w = 0; w < read.size(); ++w) {
      for (const auto& [name, dim] : wanted[w].dims) {
        const PartDim& other = read[w].dims.at(name);
        EXPECT_EQ(other.masters, dim.masters) << name;
        EXPECT_EQ(other.others, dim.others) << name;
        EXPECT_EQ(other.other_owners, dim.other_owners) << name;
        EXPECT_EQ(other.whole, dim.whole) << name;
      }
      for (const auto& [name, array] : wanted[w].arrays)
        EXPECT_TRUE(equal_elements(read[w].arrays.at(name).data, array.data)) << name << " of worker " << w;
    }
  }

  cases::Folder folder_;
};

TEST_F(WholeArrays, AreReadByAnyNumberOfWorkers) {
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{50}, std::int64_t{200'000}}) {
    for (const int made : {1, 3}) {
      const BundleInfo info = write(rows, made);
      EXPECT_TRUE(info.any_workers);
      EXPECT_FALSE(std::filesystem::exists(folder_.file("b/part-0000.h5")));
      for (const int workers : {1, 2, 3, 8, 64}) {
        const std::vector<Part> wanted = parts(rows, workers);
        expect_equal(read_parts(bundle(), 0, workers, {.workers = workers}), wanted);
        MappedTables mapped;
        expect_equal(read_parts(bundle(), 0, workers, {.workers = workers, .mapped = &mapped}), wanted);
        EXPECT_NO_THROW(mapped.check());
        expect_equal(read_parts(bundle(), workers - 1, 1, {.workers = workers}), std::span(wanted).last(1));
        const BundleInfo as = read_bundle_info(bundle(), workers);
        EXPECT_EQ(as.workers, workers);
        EXPECT_EQ(as.digest, info.digest);
        EXPECT_EQ(as.statistics, statistics(wanted));
        EXPECT_EQ(read_dims(bundle(), workers).back().at("N").others, wanted.back().dims.at("N").others);
        EXPECT_EQ(read_part_lists(bundle(), 0, workers).arrays.at("X").data.count, 0);
      }
      expect_equal(read_parts(bundle(), 0, made), parts(rows, made));
    }
  }
}

// The same content gives the same bytes, but for the workers who read it where none are named.
TEST_F(WholeArrays, HaveTheSameBytesForAnyNumberOfWorkers) {
  (void)write(5000, 1);
  const std::string one = cases::content(arrays());
  (void)write(5000, 4);
  EXPECT_TRUE(one == cases::content(arrays()));
}

TEST_F(WholeArrays, AreLeftOutWhereNobodyWantsThem) {
  (void)write(100, 2);
  const std::vector<Part> wanted = parts(100, 4);
  const std::vector<Part> read = read_parts(
      bundle(), 0, 4, {.workers = 4, .elements = [](const std::string& array, std::int64_t first, std::int64_t count) {
                         if (array == "all") {
                           EXPECT_EQ(first + count, 0);
                         }
                         return array == "all" || (array == "X" && first <= 30 && 30 < first + count);
                       }});
  for (std::size_t w = 0; w < 4; ++w) {
    EXPECT_TRUE(equal_elements(read[w].arrays.at("all").data, wanted[w].arrays.at("all").data));
    EXPECT_EQ(read[w].arrays.at("back").data.count, 0);
    if (w == 1) {
      EXPECT_TRUE(equal_elements(read[w].arrays.at("X").data, wanted[w].arrays.at("X").data));
    } else {
      EXPECT_EQ(read[w].arrays.at("X").data.count, 0);
    }
  }
}

TEST_F(WholeArrays, OfSparseDataAreForTheirNumberAlone) {
  std::vector<InputData> inputs;
  inputs.push_back(cases::pattern("G", "N", "N", cases::random_edges(20, 20, 60, 1)));
  inputs.push_back(cases::table("X", {"M"}, ElementType::of(Scalar::f64), 50, 1));
  std::vector<DimData> dims{{.name = "N"}, {.name = "M"}};
  const std::vector<Part> made = partition(dims, std::move(inputs), {.workers = 2});
  EXPECT_FALSE(write_bundle(bundle(), made, {.workers = 2, .method = "block"}, true).any_workers);
  EXPECT_EQ(read_bundle_info(bundle(), 2).workers, 2);
  const std::string text = refusal([&] { (void)read_parts(bundle(), 0, 3, {.workers = 3}); }, ExitStatus::usage);
  EXPECT_NE(text.find("has 2 parts"), std::string::npos) << text;
}

// A changed byte is found by whoever reads its block, and by nobody else.
TEST_F(WholeArrays, ThatWereAlteredAreRefused) {
  (void)write(500'000, 2);
  const std::string good = cases::content(arrays());
  const auto change = [&](std::size_t at) {
    std::fstream(arrays(), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(at))
        .put(static_cast<char>(good[at] + 1));
  };
  const auto read = [&](int first, const std::string& array) {
    return read_parts(bundle(), first, 1,
                      {.elements = [&](const std::string& name, std::int64_t, std::int64_t) { return name == array; }});
  };
  const Json manifest = Json::parse(cases::content(folder_.file("b/manifest.json")));
  std::size_t begin = 0;
  for (const Json& array : manifest["content"]["arrays"]) {
    if (array["name"] == "X") begin = array["offsets"][0].get<std::size_t>();
  }
  ASSERT_GT(begin, 0U);
  const std::size_t rows = 500'000UL * 3 * 8;
  change(begin + rows - 1);
  EXPECT_NE(refusal([&] { (void)read(1, "X"); }).find("was altered"), std::string::npos);
  EXPECT_NO_THROW((void)read(0, "X"));
  MappedTables mapped;
  (void)refusal([&] { (void)read_parts(bundle(), 1, 1, {.mapped = &mapped}); });
  (void)write(500'000, 2);
  change(begin);
  (void)refusal([&] { (void)read(0, "X"); });
  std::filesystem::resize_file(arrays(), good.size() - 1);
  EXPECT_NE(refusal([&] { (void)read(1, "X"); }).find("was cut off"), std::string::npos);
  std::filesystem::remove(arrays());
  EXPECT_NE(refusal([&] { (void)read(1, "X"); }).find("is missing"), std::string::npos);
  EXPECT_FALSE(stored_arrays_hold(bundle()));
  EXPECT_EQ(read_bundle_info(bundle()).workers, 2);
}

// With the digest of its text that fits, nothing leads outside of the file; with the right entries of arrays, the
// elements are the right ones.
TEST_F(WholeArrays, RefuseChangedManifests) {
  (void)write(50, 2);
  const std::vector<Part> wanted = parts(50, 2);
  const Json good = Json::parse(cases::content(folder_.file("b/manifest.json")));
  testing::Mutator mutator(7);
  int refused = 0;
  for (int trial = 0; trial < 1500 && !HasFailure(); ++trial) {
    const std::string changed = testing::changed_manifest(good, mutator);
    folder_.write("b/manifest.json", changed);
    try {
      const std::vector<Part> read = read_parts(bundle(), 0, read_bundle_info(bundle()).workers);
      const Json content = Json::parse(changed)["content"];
      bool as_written = content["arrays"] == good["content"]["arrays"] && read.size() == wanted.size();
      for (std::size_t w = 0; w < read.size() && as_written; ++w)
        for (const auto& [name, dim] : wanted[w].dims) as_written &= read[w].dims.at(name).masters == dim.masters;
      for (std::size_t w = 0; w < read.size() && as_written; ++w)
        for (const auto& [name, array] : read[w].arrays)
          EXPECT_TRUE(equal_elements(array.data, wanted[w].arrays.at(name).data)) << changed;
    } catch (const UserError& error) {
      ++refused;
      EXPECT_NE(error.status(), ExitStatus::internal);
    }
  }
  EXPECT_GT(refused, 700);
}

TEST_F(WholeArrays, AtOnePlaceAreRefused) {
  (void)write(50, 2);
  Json manifest = Json::parse(cases::content(folder_.file("b/manifest.json")));
  Json& arrays = manifest["content"]["arrays"];
  const auto named = [&](const char* name) -> Json& {
    return *std::find_if(arrays.begin(), arrays.end(), [&](const Json& array) { return array["name"] == name; });
  };
  const auto begin = named("square")["offsets"][0].get<std::int64_t>();
  for (const std::int64_t at : {begin, begin + 8, begin - 8}) {
    named("all")["offsets"][0] = at;
    manifest["digest"] = digest_of(manifest["content"].dump());
    folder_.write("b/manifest.json", manifest.dump());
    const std::string text = refusal([&] { (void)read_bundle_info(bundle()); });
    EXPECT_NE(text.find("at one place"), std::string::npos) << text;
  }
}

// Versions 4 and 5 had a digest for each worker's elements of a file of the user's.
TEST_F(WholeArrays, InFilesWithDigestsByWorkerAreRead) {
  std::string text = npy_header("<f8", {90'000, 2});
  const std::size_t head = text.size();
  for (int k = 0; k < 180'000; ++k) {
    const double number = k / 8.0;
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  folder_.write("X", text);
  const auto made = [&](std::map<std::string, StoredTable>* stored) {
    std::vector<InputData> inputs;
    inputs.push_back(cases::pattern("G", "N", "N", cases::random_edges(20, 20, 60, 1)));
    inputs.push_back({.name = "X",
                      .dims = {"M", "K"},
                      .element = ElementType::of(Scalar::f64),
                      .table = read_table(
                          folder_.file("X"),
                          {.element = ElementType::of(Scalar::f64), .sparse = false, .may_stay = stored != nullptr})});
    std::vector<DimData> dims{{.name = "N"}, {.name = "M"}, {.name = "K", .local = true, .size = 2}};
    return partition(dims, std::move(inputs), {.workers = 2, .stored = stored});
  };
  BundleInfo info{.workers = 2, .method = "block"};
  const std::vector<Part> parts = made(&info.stored);
  (void)write_bundle(bundle(), parts, info, true);
  Json manifest = Json::parse(cases::content(folder_.file("b/manifest.json")));
  Json& stored = manifest["content"]["arrays"][0]["stored"];
  stored.erase("digests");
  stored["digests_by_worker"] = Json::array();
  for (std::size_t w = 0; w < 2; ++w) {
    const std::size_t bytes = 45'000UL * 2 * 8;
    BlockDigest digest(static_cast<std::int64_t>(bytes));
    digest.set(0, text.data() + head + w * bytes);
    ASSERT_EQ(digest.blocks(), 1);
    stored["digests_by_worker"].push_back(digest.hex());
  }
  for (const int version : {4, 5}) {
    manifest["kasen_bundle"] = version;
    manifest["digest"] = digest_of(manifest["content"].dump());
    folder_.write("b/manifest.json", manifest.dump());
    expect_equal(read_parts(bundle(), 0, 2), made(nullptr));
    MappedTables mapped;
    const std::vector<Part> pages = read_parts(bundle(), 0, 2, {.mapped = &mapped});
    expect_equal(pages, made(nullptr));
    EXPECT_NE(name_of_mapped_file(pages[0].arrays.at("X").data.plane(0)), nullptr);
    EXPECT_NO_THROW(mapped.check());
    EXPECT_TRUE(stored_arrays_hold(bundle()));
  }
  std::fstream(folder_.file("X"), std::ios::in | std::ios::out | std::ios::binary).seekp(1'000'000).put('?');
  EXPECT_NE(refusal([&] { (void)read_parts(bundle(), 1, 1); }).find("content changed"), std::string::npos);
  EXPECT_FALSE(stored_arrays_hold(bundle()));
  EXPECT_NO_THROW((void)read_parts(bundle(), 0, 1));
}

}  // namespace
}  // namespace kasen
