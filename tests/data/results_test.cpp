#include "libcomm/data/results/results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/error.h"
#include "tests/data/partition_cases.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

// Three workers, a relabelled dimension N (ids 7 + 3 i), H with blocks, K local; outputs whose values tell their place.
class Results : public ::testing::Test {
 protected:
  void SetUp() override {
    auto edges = cases::random_edges(12, 12, 20, 4);
    for (auto& [i, j] : edges) {
      i = 7 + 3 * i;
      j = 7 + 3 * j;
    }
    std::vector<InputData> inputs;
    inputs.push_back(cases::pattern("G", "N", "N", edges));
    inputs.push_back(cases::table("h", {"H"}, ElementType::of(Scalar::f64), 5, 1));
    std::vector<DimData> dims{{.name = "N"}, {.name = "H"}, {.name = "K", .local = true, .size = 2}};
    parts_ = partition(dims, std::move(inputs), {.workers = 3});
    module_.dims = {{.name = "N"}, {.name = "H"}, {.name = "K", .local = true, .size = 2}};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::size_t files() const { return folder_.entries(); }

  // value(global index, place among the local elements, plane)
  template <class T, class Value>
  Output output(const std::string& name, ElementType element, std::vector<DimId> dims, std::int64_t inner,
                Value value) {
    Output out{.name = name, .type = {.element = element, .dims = dims}, .parts = {}};
    const bool shared = dims.empty() || (dims.size() == 1 && dims[0] == 2);
    for (const Part& part : parts_) {
      std::vector<std::int64_t> masters{0};
      for (const DimId d : dims)
        if (d != 2) masters = part.dims.at(module_.dim(d).name).masters.listed();
      OutputPart to{.worker = part.worker, .data = Array(element, static_cast<std::int64_t>(masters.size()) * inner)};
      for (std::int64_t p = 0; p < element.planes(); ++p)
        for (std::size_t m = 0; m < masters.size(); ++m)
          for (std::int64_t i = 0; i < inner; ++i)
            to.data.as<T>(p)[static_cast<std::int64_t>(m) * inner + i] = static_cast<T>(value(masters[m], i, p));
      if (!shared || part.worker == 0) out.parts.push_back(std::move(to));
    }
    return out;
  }

  std::vector<Output> outputs() {
    std::vector<Output> all;
    const auto place = [](std::int64_t g, std::int64_t i, std::int64_t p) { return 100 * g + 10 * i + p; };
    all.push_back(output<double>("rank", ElementType::of(Scalar::f64), {DimId(0)}, 1, place));
    all.push_back(output<float>("points", ElementType::array(Scalar::f32, 3), {DimId(1)}, 1, place));
    all.push_back(output<std::int32_t>("table", ElementType::of(Scalar::i32), {DimId(1), DimId(2)}, 2, place));
    all.push_back(output<std::int32_t>("turned", ElementType::of(Scalar::i32), {DimId(2), DimId(1)}, 2, place));
    all.push_back(output<std::int64_t>("parent", ElementType::id(DimId(0)), {DimId(0)}, 1,
                                       [](std::int64_t g, auto, auto) { return g == 0 ? -1 : g - 1; }));
    all.push_back(output<double>("sum", ElementType::of(Scalar::f64), {}, 1, [](auto...) { return 0.1; }));
    all.push_back(output<std::uint8_t>("seen", ElementType::of(Scalar::boolean), {DimId(1)}, 1,
                                       [](std::int64_t g, auto, auto) { return g % 2; }));
    return all;
  }

  cases::Folder folder_;
  std::vector<Part> parts_;
  Module module_;
};

template <class T>
std::vector<T> dataset(const std::string& file, const std::string& name, FileType type,
                       const std::vector<std::int64_t>& extents) {
  Hdf5Reader reader(file);
  std::size_t count = 1;
  for (const std::int64_t e : extents) count *= static_cast<std::size_t>(e);
  std::vector<T> values(count);
  reader.read(reader.locate(name, type, extents), values.data(), static_cast<std::int64_t>(count * sizeof(T)));
  return values;
}

TEST_F(Results, Hdf5HoldsGlobalOrderAndUserIds) {
  const auto names = write_results(path("r.h5"), ResultFormat::hdf5, module_, outputs(), parts_);
  EXPECT_EQ(names, std::vector<std::string>{path("r.h5")});
  const auto rank = dataset<double>(path("r.h5"), "/rank", FileType::f64, {12});
  const auto ids = dataset<std::int64_t>(path("r.h5"), "/N_ids", FileType::i64, {12});
  const auto parent = dataset<std::int64_t>(path("r.h5"), "/parent", FileType::i64, {12});
  for (std::int64_t g = 0; g < 12; ++g) {
    const auto at = static_cast<std::size_t>(g);
    EXPECT_EQ(rank[at], static_cast<double>(100 * g));
    EXPECT_EQ(ids[at], 7 + 3 * g);
    EXPECT_EQ(parent[at], g == 0 ? -1 : 7 + 3 * (g - 1));
  }
  const auto points = dataset<float>(path("r.h5"), "/points", FileType::f32, {5, 3});
  const auto table = dataset<std::int32_t>(path("r.h5"), "/table", FileType::i32, {5, 2});
  const auto turned = dataset<std::int32_t>(path("r.h5"), "/turned", FileType::i32, {2, 5});
  for (std::size_t g = 0; g < 5; ++g) {
    for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(points[3 * g + p], static_cast<float>(100 * g + p));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(table[2 * g + i], static_cast<std::int32_t>(100 * g + 10 * i));
      EXPECT_EQ(turned[5 * i + g], static_cast<std::int32_t>(100 * g + 10 * i));
    }
  }
  EXPECT_EQ(dataset<double>(path("r.h5"), "/sum", FileType::f64, {})[0], 0.1);
  EXPECT_EQ(dataset<std::uint8_t>(path("r.h5"), "/seen", FileType::u8, {5}),
            (std::vector<std::uint8_t>{0, 1, 0, 1, 0}));
}

TEST_F(Results, CsvNamesEveryElement) {
  const auto names = write_results(path("r.csv"), ResultFormat::csv, module_, outputs(), parts_);
  ASSERT_EQ(names.size(), 7U);
  EXPECT_TRUE(cases::content(path("r.csv")).starts_with("N,rank\n7,0\n10,100\n13,200\n"));
  EXPECT_TRUE(cases::content(path("r-parent.csv")).starts_with("N,parent\n7,-1\n10,7\n13,10\n"));
  EXPECT_TRUE(
      cases::content(path("r-points.csv")).starts_with("H,points[0],points[1],points[2]\n0,0,1,2\n1,100,101,102\n"));
  EXPECT_TRUE(cases::content(path("r-turned.csv")).starts_with("K,H,turned\n0,0,0\n0,1,100\n"));
  EXPECT_EQ(cases::content(path("r-sum.csv")), "sum\n0.1\n");
  EXPECT_TRUE(cases::content(path("r-seen.csv")).starts_with("H,seen\n0,false\n1,true\n"));
}

TEST_F(Results, NpyHasHeaderAndValues) {
  std::vector<Output> one;
  one.push_back(std::move(outputs()[1]));
  const auto names = write_results(path("r.npy"), ResultFormat::npy, module_, one, parts_);
  EXPECT_EQ(names, std::vector<std::string>{path("r.npy")});
  const std::string bytes = cases::content(path("r.npy"));
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
  EXPECT_NE(bytes.find("'shape': (5,3,)"), std::string::npos);
  ASSERT_EQ(bytes.size() % 64, (5 * 3 * sizeof(float)) % 64);
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 402.0F);
  one.clear();
  one.push_back(std::move(outputs()[0]));
  EXPECT_EQ(write_results(path("n.npy"), ResultFormat::npy, module_, one, parts_).size(), 2U);
  EXPECT_TRUE(fs::exists(path("n-N_ids.npy")));
}

TEST_F(Results, SpecialNumbersSurvive) {
  std::vector<Output> one;
  one.push_back(output<double>("x", ElementType::of(Scalar::f64), {DimId(1)}, 1, [](std::int64_t g, auto, auto) {
    return g == 0 ? NAN : g == 1 ? -INFINITY : g == 2 ? -0.0 : std::numeric_limits<double>::denorm_min();
  }));
  (void)write_results(path("x.csv"), ResultFormat::csv, module_, one, parts_);
  EXPECT_EQ(cases::content(path("x.csv")), "H,x\n0,nan\n1,-inf\n2,-0\n3,5e-324\n4,5e-324\n");
}

TEST_F(Results, DimsCanBeReadFromTheBundle) {
  (void)write_bundle(path("b"), parts_, {.workers = 3, .method = "hybrid-cut"}, false);
  const DimsOfWorkers read = read_dims(path("b"));
  ASSERT_EQ(read.size(), parts_.size());
  for (std::size_t w = 0; w < read.size(); ++w) {
    for (const auto& [name, dim] : parts_[w].dims) {
      EXPECT_EQ(read[w].at(name).masters, dim.masters);
      EXPECT_EQ(read[w].at(name).original, dim.original);
    }
  }
}

TEST_F(Results, AFailedRunLeavesWhatWasThere) {
  for (const ResultFormat format : {ResultFormat::hdf5, ResultFormat::csv, ResultFormat::npy}) {
    std::ofstream(path("r")) << "old";
    {
      const auto all = outputs();
      const auto alone = one_rank();
      const ResultWriter writer(path("r"), format, module_, all, parts_, *alone);
    }
    EXPECT_EQ(cases::content(path("r")), "old");
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(Results, UnwritablePlacesAreRefused) {
  for (const ResultFormat format : {ResultFormat::hdf5, ResultFormat::csv, ResultFormat::npy}) {
    for (const std::string& place : {path("none/r"), folder_.path().string(), std::string("/dev/null")}) {
      std::vector<Output> one;
      one.push_back(std::move(outputs()[1]));
      try {
        (void)write_results(place, format, module_, one, parts_);
        ADD_FAILURE() << "accepted " << place;
      } catch (const UserError& error) {
        EXPECT_EQ(error.status(), ExitStatus::cannot_create) << error.what();
      }
    }
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(Results, LinksKeepPointingToTheFile) {
  std::ofstream(path("target")) << "old";
  fs::create_symlink(path("target"), path("link"));
  std::vector<Output> one;
  one.push_back(std::move(outputs()[5]));
  (void)write_results(path("link"), ResultFormat::csv, module_, one, parts_);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(cases::content(path("target")), "sum\n0.1\n");
}

TEST_F(Results, LinksToPipesAreRefused) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", ends[1]), path("link"));  // as /dev/stdout is one
  std::vector<Output> one;
  one.push_back(std::move(outputs()[5]));
  EXPECT_THROW((void)write_results(path("link"), ResultFormat::csv, module_, one, parts_), UserError);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Results, ALinkToNothingMakesItsFile) {
  fs::create_symlink("later", path("link"));
  std::vector<Output> one;
  one.push_back(std::move(outputs()[5]));
  (void)write_results(path("link"), ResultFormat::csv, module_, one, parts_);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(cases::content(path("later")), "sum\n0.1\n");
}

}  // namespace
}  // namespace kasen
