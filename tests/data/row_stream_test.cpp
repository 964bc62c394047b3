// Rows that are made later: the same bytes as those that are read at once, the same refusals, and the same bundles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/cut/partition.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers

// The planes of all rows, in one text.
std::string bytes_of(const RawTable& table) {
  std::string all;
  const std::int64_t planes = table.values.element.planes();
  const std::int64_t plane = table.rows * (table.cols / planes) * scalar_bytes(table.values.element.plane_scalar(0));
  for (std::int64_t p = 0; p < planes; ++p)
    all.append(reinterpret_cast<const char*>(table.values.plane(p)), static_cast<std::size_t>(plane));
  return all;
}

std::string bytes_made(const RawTable& table) {
  const std::int64_t planes = table.values.element.planes();
  const std::int64_t row = table.later->width() / planes * scalar_bytes(table.values.element.plane_scalar(0));
  std::string all(static_cast<std::size_t>(planes * table.rows * row), '\xee');
  table.later->for_each([&](const RowStream::Block& block) {
    ASSERT_EQ(std::ssize(block.planes), planes);
    for (std::int64_t p = 0; p < planes; ++p)
      std::memcpy(all.data() + (p * table.rows + block.first) * row, block.planes[static_cast<std::size_t>(p)],
                  static_cast<std::size_t>(block.rows * row));
  });
  return all;
}

void expect_same(const std::string& path, ReadOptions options) {
  const RawTable whole = read_table(path, options);
  options.may_wait = true;
  const RawTable table = read_table(path, options);
  ASSERT_TRUE(table.later) << path;
  EXPECT_EQ(table.rows, whole.rows);
  EXPECT_EQ(table.cols, whole.cols);
  EXPECT_EQ(table.digest, whole.digest);
  EXPECT_EQ(table.axes, whole.axes);
  EXPECT_EQ(bytes_made(table), bytes_of(whole)) << path;
  EXPECT_EQ(bytes_made(table), bytes_of(whole)) << "a second time";
}

// A table in text with all that may stand between and around numbers.
std::string random_text(std::mt19937_64& random, std::int64_t rows, std::int64_t cols, char delimiter) {
  const std::string end = random() % 2 == 0 ? "\n" : "\r\n";
  const std::uint64_t rare = 5 + random() % 200;  // one line of so many is none of the rows
  std::string text = random() % 2 == 0 ? "# a table" + end : "";
  for (std::int64_t r = 0; r < rows; ++r) {
    while (random() % rare == 0)
      text += std::vector<std::string>{"", "  ", "# no row, 1, 2", " \t% neither"}[random() % 4] + end;
    for (std::int64_t c = 0; c < cols; ++c) {
      if (random() % 50 == 0) text += ' ';
      const double value =
          std::normal_distribution<double>(0, std::exp2(static_cast<int>(random() % 200) - 100))(random);
      const std::string number = random() % 3 == 0   ? fmt::format("{}", random() % 1000)
                                 : random() % 2 == 0 ? fmt::format("{}", value)
                                 : random() % 9 == 0
                                     ? std::vector<std::string>{"nan", "inf", "-inf", "4e-324"}[random() % 4]
                                     : fmt::format("{:.{}f}", value, random() % 20);
      text += random() % 20 == 0 ? '"' + number + '"' : number;
      if (random() % 50 == 0) text += ' ';
      if (c + 1 < cols) text += delimiter;
    }
    if (r + 1 < rows || random() % 2 == 0) text += end;
  }
  return text;
}

TEST(RowStream, RandomTextsOverPieces) {
  std::mt19937_64 random(21);
  const Folder folder;
  int number = 0;
  for (const auto& [rows, cols] :
       {std::pair{60000, 7}, {200000, 2}, {700, 900}, {1, 1}, {1, 5}, {3, 2}, {4, 1}, {150, 3}}) {
    for (const char delimiter : {',', ';', '\t'}) {
      const std::string text = random_text(random, rows, cols, cols == 1 ? ',' : delimiter);
      const std::string path = folder.write(fmt::format("{}.csv", number++), text);
      ReadOptions options = table_of(random() % 3 == 0 ? Scalar::f32 : Scalar::f64);
      options.format = FileFormat::csv;
      expect_same(path, options);
      options.by_column = true;
      expect_same(path, options);
      if (rows < 200) expect_same(folder.write(fmt::format("{}.csv", number++), gzip(text)), options);
    }
  }
}

// Lines of comments fill whole pieces, and cross their borders.
TEST(RowStream, PiecesWithoutRows) {
  std::string text;
  for (int r = 0; r < 5; ++r) {
    text += fmt::format("{},{}\n", r, r + 1);
    for (int k = 0; k < 3; ++k) text += "# " + std::string(1 << 20, 'x') + "\n";
    text += std::string(3 << 20, '\n');
  }
  const Folder folder;
  expect_same(folder.write("x.csv", text), table_of(Scalar::f64));
  const RawTable table = read_table(folder.write("y.csv", text), table_of(Scalar::i64));
  ASSERT_EQ(table.rows, 5);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(table.values.as<std::int64_t>()[i], i / 2 + i % 2);
}

// The same message with the same line and column, whenever rows are made.
TEST(RowStream, WrongRowsAreRefusedAlike) {
  std::mt19937_64 random(22);
  const Folder folder;
  const std::vector<std::string> wrong{"1,2",   "1,2,3,4", "1,,3",      "1,\"2,3",
                                       "1,2,x", "1,2,3 4", "1,1e999,3", "\"1\"2,3,4"};
  for (std::size_t k = 0; k < 4 * wrong.size(); ++k) {
    std::string text;
    const std::uint64_t rows = 1000 + random() % 400000, at = 200 + random() % (rows - 200);
    int line = 0;
    for (std::uint64_t r = 0, lines = 1; r < rows; ++r, ++lines) {
      if (random() % 100 == 0) {
        text += "# between\n";
        ++lines;
      }
      if (r >= at && (r == at || random() % 1000 == 0)) {  // others follow the first
        text += wrong[k % wrong.size()];
        if (line == 0) line = static_cast<int>(lines);
      } else {
        text += fmt::format("{},{},{}", r, r % 7, r % 11);
      }
      text += '\n';
    }
    const std::string path = folder.write("x.csv", text);
    ReadOptions options = table_of(Scalar::f64);
    const Refusal at_once = table_refusal(path, options);
    ASSERT_EQ(at_once.status, ExitStatus::bad_input);
    ASSERT_EQ(at_once.line, line) << wrong[k % wrong.size()];
    options.may_wait = true;
    const RawTable table = read_table(path, options);
    try {
      table.later->for_each([](const RowStream::Block&) {});
      FAIL() << "not refused";
    } catch (const UserError& error) {
      const Diagnostic& diagnostic = error.diagnostics().front();
      EXPECT_EQ(diagnostic.where.line, at_once.line);
      EXPECT_EQ(diagnostic.where.column, at_once.column);
      EXPECT_EQ(diagnostic.where.file, path);
    }
  }
}

// The columns of words have to be seen together.
TEST(RowStream, WordsDoNotWait) {
  const Folder folder;
  ReadOptions options = table_of(Scalar::f64);
  options.words = {ColumnChoice(2)};
  options.may_wait = true;
  const RawTable table = read_table(folder.write("x.csv", "1,b\n2,a\n"), options);
  EXPECT_FALSE(table.later);
  EXPECT_EQ(numbers_of(table), (std::vector<double>{1, 1, 2, 0}));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Inputs of several shapes, cut for some workers: bundles with rows that wait and without.
void expect_same_bundle(const Folder& folder, const std::string& path, const ElementType& element,
                        const std::vector<std::string>& dims, int workers) {
  std::vector<std::string> contents;
  for (const bool wait : {false, true}) {
    ReadOptions options = table_of(element.scalar());
    options.may_wait = wait;
    options.by_column = dims.size() == 1 && element.planes() > 1;
    std::vector<DimData> all;
    for (const char* const name : {"T", "N", "F"}) {
      const std::string dim(name);
      if (std::find(dims.begin(), dims.end(), dim) != dims.end())
        all.push_back({dim, dim != "N", dim == "T" && dims.size() == 3 ? 4 : unknown_size, {}});
    }
    std::vector<InputData> inputs;
    inputs.push_back({"X", dims, element, false, {}, read_table(path, options), "x"});
    PartitionOptions cut;
    cut.workers = workers;
    LaterTables later;
    if (wait) cut.later = &later;
    const std::vector<Part> parts = partition(all, std::move(inputs), cut);
    BundleInfo info;
    info.workers = workers;
    info.sources = {"X"};
    const std::string bundle = folder.file(wait ? "later" : "now");
    BundleWriter writer(bundle, info, true);
    writer.put_off(later);
    for (const Part& part : parts) writer.add(part);
    (void)writer.finish();
    contents.push_back(content_of(bundle + "/manifest.json") + content_of(bundle + "/arrays.h5"));
    EXPECT_GT(contents.back().size(), 1000U);
  }
  EXPECT_TRUE(contents[0] == contents[1]) << path << ", " << workers << " workers";
}

TEST(RowStream, BundlesOfEveryShape) {
  std::mt19937_64 random(23);
  const Folder folder;
  std::string text;
  for (int i = 0; i < 1200; ++i)
    text += fmt::format("{}{}", std::normal_distribution<double>(0, 1)(random), i % 6 == 5 ? "\n" : ",");
  const std::string path = folder.write("x.csv", text);  // 200 rows of 6
  for (const int workers : {1, 2, 3, 6}) {
    expect_same_bundle(folder, path, ElementType::of(Scalar::f64), {"N", "F"}, workers);
    expect_same_bundle(folder, path, ElementType::array(Scalar::f64, 6), {"N"}, workers);
    expect_same_bundle(folder, path, ElementType::array(Scalar::f64, 3), {"N", "F"}, workers);
    expect_same_bundle(folder, path, ElementType::of(Scalar::f32), {"T", "N", "F"}, workers);
    expect_same_bundle(folder, path, ElementType::of(Scalar::f64), {"T", "F"}, workers);
  }
}

}  // namespace
}  // namespace kasen
