// Entries in spill files: bundles have the bytes of those that are cut in memory, whatever the data; limits and disks
// that do not suffice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/cut/sample.h"
#include "libcore/system/fault.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::HasSubstr;

// A file, and the program's input that it is for.
struct Source {
  std::string name, file, text;
  std::vector<std::string> dims{"N", "N"};
  ReadOptions options = matrix_of(Scalar::null);
};

struct SpilledCase {
  std::vector<Source> sources;
  PartitionOptions options;
  std::vector<DimData> dims{{.name = "N"}};
  std::int64_t work = 60'000;
  std::vector<int> workers{1, 3};
};

// Room for some hundred entries at a time, or for more.
std::shared_ptr<SpillRoom> little_room(const std::string& folder, std::int64_t work = 60'000) {
  constexpr std::int64_t plenty = std::int64_t{1} << 40;
  return std::make_shared<SpillRoom>(SpillRoom::Limits{.bytes = plenty, .least_work = 0, .most_work = work}, folder, 2);
}

using Files = std::map<std::string, std::string>;

Files files_in(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    files[entry.path().filename().string()] = bytes.str();
  }
  return files;
}

std::vector<InputData> read_inputs(const SpilledCase& of, const Folder& folder,
                                   const std::shared_ptr<SpillRoom>& spill) {
  std::vector<InputData> inputs;
  for (const Source& source : of.sources) {
    ReadOptions options = source.options;
    options.spill = spill;
    InputData input{.name = source.name, .dims = source.dims, .element = options.element, .sparse = options.sparse};
    const std::string path = folder.write(source.file, source.text);
    if (options.sparse)
      input.matrix = read_matrix(path, options);
    else
      input.table = read_table(path, options);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

using CutCall =
    std::function<std::vector<Part>(std::vector<DimData>&, std::vector<InputData>, const PartitionOptions&)>;

Files bundle_of(const SpilledCase& of, const std::shared_ptr<SpillRoom>& spill, const CutCall& cut = partition) {
  const Folder folder;
  std::vector<DimData> dims = of.dims;
  std::vector<SpilledMatrices> spilled;
  PartitionOptions options = of.options;
  options.spill = spill;
  if (spill != nullptr) options.spilled = &spilled;
  std::vector<Part> parts = cut(dims, read_inputs(of, folder, spill), options);
  BundleInfo info{.workers = options.workers, .method = std::string(method_name(options.method))};
  {
    BundleWriter writer(folder.file("bundle"), info, false, Sync::no);
    for (std::size_t w = 0; w < parts.size(); ++w) {
      if (spill == nullptr)
        writer.add(parts[w]);
      else
        writer.add(parts[w], spilled.at(w));
    }
    (void)writer.finish();
  }
  return files_in(folder.file("bundle"));
}

void expect_same_bytes(SpilledCase of) {
  const Folder folder;
  for (const PartitionMethod method : {PartitionMethod::hybrid_cut, PartitionMethod::block}) {
    for (const int workers : of.workers) {
      of.options.method = method;
      of.options.workers = workers;
      const auto room = little_room(folder.path().string(), of.work);
      EXPECT_TRUE(bundle_of(of, nullptr) == bundle_of(of, room)) << method_name(method) << ", " << workers;
      EXPECT_EQ(folder.entries(), 0U);
    }
  }
}

// Lines `row col`, many of them to few rows and columns, and some more than once; ids from `first` on, `gap` apart.
std::string edges_text(
    int count, unsigned seed, std::int64_t first = 0, std::int64_t gap = 1,
    const std::function<std::string(int)>& behind = [](int) { return std::string(); }) {
  std::mt19937_64 random(seed);
  const auto id = [&] {
    const auto u = static_cast<double>(random() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
    return first + gap * static_cast<std::int64_t>(2000 * u * u * u);
  };
  std::string text;
  for (int k = 0; k < count; ++k) {
    const std::int64_t row = id(), col = id();
    text += fmt::format("{} {}{}\n", row, col, behind(k));
  }
  return text;
}

std::string value_of(int k) { return fmt::format(" {}", 0.1 * (k % 97) - 3); }

ReadOptions valued(Repeats repeats, Scalar scalar = Scalar::f64) {
  ReadOptions options = matrix_of(scalar);
  options.repeats = repeats;
  return options;
}

TEST(Spilled, AGraphOfManyBlocks) {
  expect_same_bytes({.sources = {{"G", "g.txt", edges_text(300'000, 1)}},
                     .work = 4'000'000,
                     .workers = {1, 2, 3, 4}});  // more than two MiB of text
}

TEST(Spilled, ColumnsBelowAndAboveTheta) {
  for (const std::int64_t theta : {0, 5, 1000})
    expect_same_bytes({.sources = {{"G", "g.txt", edges_text(6000, 2)}}, .options = {.theta = theta}});
}

TEST(Spilled, IdsWithGaps) {
  for (const std::int64_t gap : {7, 1'000'000'000})
    expect_same_bytes({.sources = {{"G", "g.txt.gz", gzip(edges_text(20'000, 3, 40, gap))}}});
}

TEST(Spilled, RepeatsByEveryRule) {
  for (const Repeats repeats : {Repeats::sum, Repeats::first, Repeats::last, Repeats::smallest, Repeats::largest})
    expect_same_bytes(
        {.sources = {
             {.name = "G", .file = "g.txt", .text = edges_text(8000, 4, 0, 1, value_of), .options = valued(repeats)}}});
}

TEST(Spilled, OneEntryAgainAndAgain) {
  std::string text = "5 5 1\n";
  for (int k = 0; k < 20'000; ++k) text += fmt::format("3 4 {}\n", 1.0 / (k + 1));
  expect_same_bytes({.sources = {{.name = "G", .file = "g.txt", .text = text, .options = valued(Repeats::sum)}}});
}

TEST(Spilled, OneLongRow) {
  std::string text;
  for (int k = 20'000; k > 0; --k) text += fmt::format("7 {}\n{} 7\n", k, k % 50);
  expect_same_bytes({.sources = {{"G", "g.txt", text}}, .options = {.theta = 3}});
}

TEST(Spilled, ElementsOfSeveralNumbersAndIds) {
  ReadOptions options = valued(Repeats::last);
  options.element.components = {{.scalar = Scalar::f32, .count = 2}, {.scalar = Scalar::id, .id_of = DimId(0)}};
  options.element.tuple = true;
  const std::string text =
      edges_text(5000, 5, 10, 3, [](int k) { return fmt::format(" {} {} {}", k, -k, 10 + 3 * (k % 9)); });
  expect_same_bytes({.sources = {{.name = "G", .file = "g.txt", .text = text, .options = options}}});
}

std::string market(const std::string& kind, const std::string& entries, int count) {
  return fmt::format("%%MatrixMarket matrix coordinate {}\n2001 2001 {}\n{}", kind, count, entries);
}

TEST(Spilled, MatrixMarketInAllSymmetries) {
  std::string lower, strict;
  int lowers = 0, stricts = 0;
  for (int i = 1; i <= 2000; i += 3) {
    for (int j = 1; j <= i; j += 1 + i / 5) {
      const std::string line = fmt::format("{} {} {}\n", i, j, i - 3 * j);
      lower += line;
      ++lowers;
      if (i == j) continue;
      strict += line;
      ++stricts;
    }
  }
  for (const auto& [kind, text, count] :
       {std::tuple("integer general", lower, lowers), std::tuple("real symmetric", lower, lowers),
        std::tuple("real skew-symmetric", strict, stricts)})
    expect_same_bytes(
        {.sources = {
             {.name = "G", .file = "g.mtx", .text = market(kind, text, count), .options = matrix_of(Scalar::f64)}}});
}

TEST(Spilled, EdgesInNpyFilesOfBothOrders) {
  std::mt19937 random(8);
  for (const bool fortran : {false, true}) {
    constexpr int edges = 300'000;  // three chunks
    std::string header =
        fmt::format("{{'descr': '<i4', 'fortran_order': {}, 'shape': ({}, 2), }}", fortran ? "True" : "False", edges);
    header.resize(117, ' ');
    header += '\n';
    std::string text = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
    for (int k = 0; k < 2 * edges; ++k) {
      const auto id = static_cast<std::int32_t>(random() % 3000);
      text.append(reinterpret_cast<const char*>(&id), sizeof id);
    }
    expect_same_bytes({.sources = {{"G", "g.npy", text}}, .work = 4'000'000});
    const Folder folder;
    const SpilledCase packed{.sources = {{"G", "g.npy.xz", xz(text)}}};
    EXPECT_TRUE(bundle_of(packed, nullptr) == bundle_of(packed, little_room(folder.path().string(), 4'000'000)));
  }
}

TEST(Spilled, LibsvmBesideItsLabels) {
  std::mt19937 random(9);
  std::string text;
  for (int row = 0; row < 3000; ++row) {
    text += fmt::format("{}", row % 2);
    for (int col = 1; col < 40; col += 1 + static_cast<int>(random() % 20)) text += fmt::format(" {}:{}", col, row % 7);
    text += '\n';
  }
  SpilledCase of{.sources = {{"X", "x.svm", text, {"N", "F"}, matrix_of(Scalar::f64)},
                             {"y", "y.svm", text, {"N"}, table_of(Scalar::f64)}},
                 .options = {},
                 .dims = {{.name = "N"}, {.name = "F"}}};
  expect_same_bytes(of);
  of.dims[1].local = true;
  expect_same_bytes(of);
}

// Of few batches the rows are cut, and of many some are taken together.
TEST(Spilled, Batches) {
  for (const int batches : {3, 60, 600}) {
    std::mt19937 random(14);
    std::string text;
    std::vector<std::string> entries;
    for (int row = 0; row < 1200; ++row) {
      text += fmt::format("{}", row % 2);
      const int gap = row < 400 ? 4 : 25;  // the first batches have most entries
      for (int col = 1; col < 40; col += 1 + static_cast<int>(random() % static_cast<unsigned>(gap))) {
        text += fmt::format(" {}:{}", col, row % 7);
        entries.push_back(fmt::format("{} {} {}\n", row + 1, col, row % 7));
      }
      text += '\n';
    }
    SpilledCase of{.sources = {{"X", "x.svm", text, {"T", "N", "F"}, matrix_of(Scalar::f64)},
                               {"y", "y.svm", text, {"T", "N"}, table_of(Scalar::f64)}},
                   .options = {.theta = 300},
                   .dims = {{.name = "T", .local = true, .size = batches}, {.name = "N"}, {.name = "F"}}};
    expect_same_bytes(of);
    std::string other = fmt::format("%%MatrixMarket matrix coordinate real general\n1200 39 {}\n", entries.size());
    for (auto line = entries.rbegin(); line != entries.rend(); ++line) other += *line;
    of.sources[0] = {"X", "x.mtx", other, {"T", "N", "F"}, matrix_of(Scalar::f64)};
    expect_same_bytes(of);
    of.dims[2].local = true;
    if (batches == 60) expect_same_bytes(of);
  }
}

TEST(Spilled, DenseArraysAndOtherMatricesBesideIt) {
  std::string table;
  for (int row = 0; row < 2000; ++row) table += fmt::format("{},{}\n", row, -row);
  expect_same_bytes({.sources = {{"G", "g.txt", edges_text(5000, 10)},
                                 {"H", "h.txt", edges_text(7000, 11)},
                                 {"X", "x.csv", table, {"N", "K"}, table_of(Scalar::f64)}},
                     .options = {.theta = 4},
                     .dims = {{.name = "N"}, {.name = "K", .local = true}},
                     .workers = {1, 2, 3, 4}});
}

TEST(Spilled, MatricesWithoutEntries) {
  expect_same_bytes({.sources = {{"G", "g.txt", "# nothing\n"}}});
  expect_same_bytes({.sources = {{.name = "G", .file = "g.mtx", .text = market("pattern general", "", 0)}}});
}

TEST(Spilled, AMethodThatSamplingChoseHasTheSameParts) {
  const SpilledCase of{.sources = {{"G", "g.txt", edges_text(9000, 12)}}, .options = {.workers = 3}};
  const CutCall by_sampler = [](std::vector<DimData>& dims, std::vector<InputData> inputs,
                                const PartitionOptions& options) {
    CutSampler sampler(dims, std::move(inputs), 0.5, true, options.workers);
    (void)sampler.cut(options);
    return sampler.parts(options);
  };
  const Folder folder;
  EXPECT_TRUE(bundle_of(of, nullptr) == bundle_of(of, little_room(folder.path().string()), by_sampler));
}

TEST(Spilled, MultilevelHasRoomOrIsRefused) {
  SpilledCase of{.sources = {{"G", "g.txt", edges_text(3000, 13)}},
                 .options = {.workers = 3, .method = PartitionMethod::ml}};
  const Folder folder;
  EXPECT_TRUE(bundle_of(of, nullptr) == bundle_of(of, little_room(folder.path().string())));
  const auto tight = std::make_shared<SpillRoom>(
      SpillRoom::Limits{.bytes = 200'000, .process = 0, .thread = 0, .least_work = 1000}, folder.path().string(), 1);
  try {
    (void)bundle_of(of, tight);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit);
    EXPECT_THAT(error.what(), HasSubstr("hybrid-cut"));
  }
}

TEST(Spilled, RefusedRepeatsNameTheFirstLines) {
  const Folder folder;
  std::string text = edges_text(1, 1, 0, 1, value_of);
  for (int k = 0; k < 3000; ++k) text += fmt::format("{} {} 1\n", k * 7919 % 3001, k);
  text += "7919 5 1\n" + std::string("2 3 4\n2 3 5\n8 8 1\n8 8 2\n");
  ReadOptions options = valued(Repeats::refuse);
  const std::string path = folder.write("g.txt", text);
  const Refusal plain = matrix_refusal(path, options);
  options.spill = little_room(folder.path().string());
  const Refusal spilled = matrix_refusal(path, options);
  EXPECT_EQ(plain.status, ExitStatus::bad_input);
  EXPECT_EQ(spilled.text, plain.text);
  EXPECT_EQ(spilled.line, plain.line);
}

TEST(Spilled, LimitsSayHowMuchWouldBeEnough) {
  const Folder folder;
  const SpilledCase of{.sources = {{"G", "g.txt", edges_text(3000, 14)}}, .options = {.workers = 2}};
  const auto needed = [&](std::int64_t bytes) {
    const SpillRoom::Limits limits{.bytes = bytes, .process = 1000, .thread = 100, .least_work = 500};
    try {
      (void)bundle_of(of, std::make_shared<SpillRoom>(limits, folder.path().string(), 2));
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::limit);
      const std::string text = error.what();
      const std::size_t at = text.find("needs at least ");
      EXPECT_NE(at, std::string::npos) << text;
      return std::stoll(text.substr(at + 15));
    }
    return 0LL;
  };
  EXPECT_EQ(needed(10), 1700);
  std::int64_t bytes = 1700;
  for (int tries = 0; tries < 8; ++tries) {
    const std::int64_t more = needed(bytes);
    if (more == 0) break;
    EXPECT_GT(more, bytes);
    bytes = more;
  }
  EXPECT_EQ(needed(bytes), 0);
}

TEST(Spilled, DisksThatFail) {
  const Folder folder;
  const SpilledCase of{.sources = {{"G", "g.txt", edges_text(300'000, 15)}}, .options = {.workers = 2}};
  for (const auto& [fault, status] :
       {std::pair("write:fail:3", ExitStatus::io), std::pair("read:fail:40", ExitStatus::io)}) {
    ask_for_faults(fault, "", 0);
    try {
      (void)bundle_of(of, little_room(folder.path().string(), 4'000'000));
      ADD_FAILURE() << fault;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_THAT(error.what(), HasSubstr("spill file"));
    }
    ask_for_faults("", "", 0);
    EXPECT_EQ(folder.entries(), 0U);
  }
  try {
    (void)bundle_of(of, little_room(folder.file("nowhere")));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("--spill"));
  }
}

TEST(SpillPieces, ComeBackOrAreNoticed) {
  const Folder folder;
  const auto room = little_room(folder.path().string());
  const auto file = PieceFile::make(room);
  std::vector<SpilledPiece> pieces;
  for (int k = 0; k < 40; ++k) {
    const std::vector<std::byte> bytes(static_cast<std::size_t>(k * 4000), static_cast<std::byte>(k));
    pieces.push_back(file->add(bytes.data(), std::ssize(bytes)));
  }
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    std::vector<std::byte> back(k * 4000);
    pieces[k].load(back.data());
    EXPECT_TRUE(std::all_of(back.begin(), back.end(), [&](std::byte b) { return b == static_cast<std::byte>(k); }));
  }
  EXPECT_GT(room->written_bytes(), 2'000'000);
  EXPECT_LE(room->read_bytes(), room->written_bytes());
}

}  // namespace
}  // namespace kasen
