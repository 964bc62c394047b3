// Results written by several ranks: the same bytes whatever their number and the size of their windows.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "libcomm/data/results/results.h"
#include "libcore/base/error.h"
#include "tests/data/partition_cases.h"
#include "tests/data/thread_ranks.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

constexpr int workers = 5;

class ResultsOfRanks : public ::testing::Test {
 protected:
  // N: relabelled ids; H: blocks, of which some workers have none; K: local.
  void cut(std::int64_t size) {
    auto edges = cases::random_edges(size, size, 50, 4);
    for (auto& [i, j] : edges) {
      i = 7 + 3 * i;
      j = 7 + 3 * j;
    }
    std::vector<InputData> inputs;
    inputs.push_back(cases::pattern("G", "N", "N", edges));
    inputs.push_back(cases::table("h", {"H"}, ElementType::of(Scalar::f64), 7, 1));
    std::vector<DimData> dims{{.name = "N"}, {.name = "H"}, {.name = "K", .local = true, .size = 3}};
    parts_ = partition(dims, std::move(inputs), {.workers = workers});
    module_.dims = {{.name = "N"}, {.name = "H"}, {.name = "K", .local = true, .size = 3}};
  }

  // A number for each scalar from its place: bytes of a random-looking 64-bit number, or an index of N.
  static void fill(Array& data, std::int64_t element, std::int64_t place, std::int64_t size) {
    for (std::int64_t p = 0; p < data.element.planes(); ++p) {
      const auto mixed = static_cast<std::uint64_t>(place * 31 + p + 1) * 0x9e3779b97f4a7c15U;
      const Scalar scalar = data.element.plane_scalar(p);
      if (scalar == Scalar::id)
        data.as<std::int64_t>(p)[element] = static_cast<std::int64_t>(mixed >> 40) % (size + 2) - 1;
      else if (scalar == Scalar::boolean)
        data.as<std::uint8_t>(p)[element] = static_cast<std::uint8_t>(mixed >> 63);
      else if (scalar_bytes(scalar) == 4)
        data.as<std::uint32_t>(p)[element] = static_cast<std::uint32_t>(mixed >> 40);
      else
        data.as<std::uint64_t>(p)[element] = mixed >> 20;
    }
  }

  // The elements that `parts` have.
  [[nodiscard]] Output output(const std::string& name, const ElementType& element, const std::vector<DimId>& dims,
                              const std::vector<Part>& parts) const {
    Output out{.name = name, .type = {.element = element, .dims = dims}, .parts = {}};
    for (const Part& part : parts) {
      std::int64_t outer = 1, inner = 1;
      const PartDim* cut = nullptr;
      for (const DimId d : dims) {
        const PartDim& dim = part.dims.at(module_.dim(d).name);
        if (cut == nullptr && !dim.local)
          cut = &dim;
        else
          (cut == nullptr ? outer : inner) *= dim.size;
      }
      const IndexList masters = cut == nullptr ? IndexList{0} : cut->masters;
      const std::int64_t extent = cut == nullptr ? 1 : cut->size;
      OutputPart share{.worker = part.worker,
                       .data = Array(element, static_cast<std::int64_t>(masters.size()) * outer * inner)};
      std::int64_t at = 0;
      for (const std::int64_t m : masters)
        for (std::int64_t o = 0; o < outer; ++o)
          for (std::int64_t i = 0; i < inner; ++i)
            fill(share.data, at++, (o * extent + m) * inner + i, parts.at(0).dims.at("N").size);
      out.parts.push_back(std::move(share));
    }
    return out;
  }

  [[nodiscard]] std::vector<Output> outputs(const std::vector<Part>& parts) const {
    const ElementType pair{{{Scalar::f64}, {Scalar::id, DimId(0)}, {Scalar::f32, no_dim, 2}}, true};
    std::vector<Output> all;
    all.push_back(output("rank", ElementType::of(Scalar::f64), {DimId(0)}, parts));
    all.push_back(output("parent", ElementType::id(DimId(0)), {DimId(0)}, parts));
    all.push_back(output("pair", pair, {DimId(0)}, parts));
    all.push_back(output("points", ElementType::array(Scalar::f32, 3), {DimId(1)}, parts));
    all.push_back(output("rows", ElementType::of(Scalar::i32), {DimId(0), DimId(2)}, parts));
    all.push_back(output("turned", ElementType::of(Scalar::i32), {DimId(2), DimId(0)}, parts));
    all.push_back(output("dense", ElementType::of(Scalar::boolean), {DimId(2), DimId(1), DimId(0)}, parts));
    all.push_back(output("sum", ElementType::of(Scalar::f64), {}, parts));
    all.push_back(output("local", ElementType::id(DimId(0)), {DimId(2)}, parts));
    return all;
  }

  // The content of every file of the result.
  std::map<std::string, std::string> write(ResultFormat format, int ranks, std::int64_t window_bytes) {
    const fs::path to = folder_.path() / "out";
    fs::create_directories(to);
    cases::ThreadRanks::run(ranks, [&](ResultRanks& mine) {
      std::vector<Part> parts;
      for (int w = mine.rank() * workers / ranks; w < (mine.rank() + 1) * workers / ranks; ++w)
        parts.push_back({.worker = w, .workers = workers, .dims = parts_[static_cast<std::size_t>(w)].dims});
      const auto all = outputs(parts);
      ResultWriter writer((to / "r").string(), format, module_, all, parts, mine, window_bytes);
      const auto names = writer.finish();
      EXPECT_EQ(names.empty(), mine.rank() != 0);
    });
    std::map<std::string, std::string> contents;
    for (const auto& file : fs::directory_iterator(to)) {
      std::ifstream in(file.path(), std::ios::binary);
      contents[file.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    fs::remove_all(to);
    return contents;
  }

  cases::Folder folder_;
  std::vector<Part> parts_;
  Module module_;
};

TEST_F(ResultsOfRanks, WriteTheSameBytes) {
  for (const std::int64_t size : {1, 2, 40, 701}) {
    cut(size);
    for (const ResultFormat format : {ResultFormat::hdf5, ResultFormat::csv, ResultFormat::npy}) {
      const auto expected = write(format, 1, std::int64_t{1} << 20);
      EXPECT_EQ(expected.size(), format == ResultFormat::hdf5 ? 1U : format == ResultFormat::csv ? 9U : 12U);
      for (const auto& [ranks, window] : std::initializer_list<std::pair<int, std::int64_t>>{
               {1, 100}, {2, 1 << 20}, {3, 300}, {4, size < 50 ? 1 : 5000}, {5, 5000}})
        EXPECT_TRUE(write(format, ranks, window) == expected)
            << "format " << static_cast<int>(format) << ", " << size << " indices, " << ranks << " ranks, windows of "
            << window << " bytes";
    }
  }
}

// What stands in the file is where the user's ids say, told by a plain look at the parts.
TEST_F(ResultsOfRanks, LinesBelongToTheirIds) {
  cut(90);
  const std::string text = write(ResultFormat::csv, 3, 200).at("r-parent");
  std::map<std::int64_t, std::int64_t> want;
  const auto all = outputs(parts_);
  for (const OutputPart& share : all[1].parts) {
    const PartDim& dim = parts_[static_cast<std::size_t>(share.worker)].dims.at("N");
    for (std::size_t m = 0; std::cmp_less(m, dim.masters.size()); ++m) {
      const std::int64_t parent = share.data.as<std::int64_t>()[m];
      want[dim.original[m]] = parent >= 0 && parent < 90 ? 7 + 3 * parent : parent;
    }
  }
  std::string lines = "N,parent\n";
  for (const auto& [id, parent] : want) lines += fmt::format("{},{}\n", id, parent);
  EXPECT_EQ(text, lines);
}

TEST_F(ResultsOfRanks, ElementsThatAreMissingAreNoticed) {
  cut(40);
  const auto alone = one_rank();
  std::vector<Part> parts = std::move(parts_);
  parts.pop_back();
  const auto all = outputs(parts);
  EXPECT_THROW(ResultWriter(folder_.file("r"), ResultFormat::hdf5, module_, all, parts, *alone), InternalError);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace kasen
