// Random data written as text and read back: every number comes back bit for bit, in order, over many pieces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers

double any_double(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (!std::isnan(value))
      return random() % 2 == 0 ? value : static_cast<double>(static_cast<int>(random() % 20001) - 10000);
  }
}

TEST(RandomText, DoublesComeBackBitForBit) {
  std::mt19937_64 random(1);
  std::string entries, table;
  std::vector<double> values;
  for (int i = 0; i < 150000; ++i) {
    values.push_back(any_double(random));
    entries += fmt::format("{}{}{}{}{}\n", i, random() % 2 == 0 ? "\t" : " ", random() % 1000, " ", values.back());
    table += fmt::format("{}{}", values.back(), i % 3 == 2 ? "\n" : ",");
    if (random() % 1000 == 0) entries += random() % 2 == 0 ? "# between\n" : "\n";
  }
  const Folder folder;
  const RawMatrix m = read_matrix(folder.write("m.txt", entries), matrix_of(Scalar::f64));
  const RawTable t = read_table(folder.write("t.csv", table), table_of(Scalar::f64));
  const std::vector<std::int64_t> rows = m.entries.rows();
  const Array read = m.entries.values();
  ASSERT_EQ(rows.size(), values.size());
  ASSERT_EQ(t.values.count, 150000);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(rows[i], static_cast<std::int64_t>(i));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read.as<double>()[i]), std::bit_cast<std::uint64_t>(values[i])) << values[i];
    ASSERT_EQ(std::bit_cast<std::uint64_t>(t.values.as<double>()[i]), std::bit_cast<std::uint64_t>(values[i]))
        << values[i];
  }
}

// Rows of many pieces, with lines between them that hold none. Few rows fill a block of a wide table, many of a narrow.
TEST(RandomText, TablesByColumnHoldTheSameNumbers) {
  std::mt19937_64 random(5);
  const Folder folder;
  for (const auto& [rows, cols] : {std::pair{90001, 2}, {60000, 7}, {1000, 300}, {700, 2500}, {3, 4}, {1, 2}}) {
    for (const bool holes : {false, true}) {
      std::string text;
      for (int r = 0; r < rows; ++r) {
        if (holes && random() % 50 == 0) text += random() % 2 == 0 ? "# between\n" : "  \n";
        for (int c = 0; c < cols; ++c) text += fmt::format("{}{}", random() % 100, c + 1 < cols ? "," : "\n");
      }
      const std::string file = folder.write("t.csv", text);
      for (const Scalar scalar : {Scalar::f64, Scalar::f32, Scalar::i32}) {
        ReadOptions options = table_of(scalar);
        const RawTable rowwise = read_table(file, options);
        options.by_column = true;
        const RawTable columns = read_table(file, options);
        ASSERT_TRUE(columns.by_column());
        ASSERT_EQ(columns.values.element.planes(), cols);
        ASSERT_EQ(columns.values.count, rows);
        ASSERT_EQ(std::pair(columns.rows, columns.cols), std::pair(rowwise.rows, rowwise.cols));
        EXPECT_EQ(columns.digest, rowwise.digest);
        const std::int64_t bytes = scalar_bytes(scalar);
        for (std::int64_t k = 0; k < rowwise.values.count; ++k) {
          const std::byte* const other = columns.values.plane(k % cols) + k / cols * bytes;
          ASSERT_EQ(std::memcmp(rowwise.values.plane(0) + k * bytes, other, static_cast<size_t>(bytes)), 0) << k;
        }
      }
    }
  }
}

TEST(RandomText, RepeatsAgreeWithAMap) {
  std::mt19937_64 random(2);
  for (const std::uint64_t spread : {std::uint64_t{50}, std::uint64_t{1} << 50}) {
    std::string text;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sums;
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(static_cast<std::int64_t>(random() % spread));
    for (int i = 0; i < 5000; ++i) {
      const std::int64_t row = ids[random() % 50], col = ids[random() % 50],
                         value = static_cast<std::int64_t>(random() % 100);
      text += fmt::format("{} {} {}\n", row, col, value);
      sums[{row, col}] += value;
    }
    const Folder folder;
    ReadOptions options = matrix_of(Scalar::i64);
    options.repeats = Repeats::sum;
    const RawMatrix m = read_matrix(folder.write("m.txt", text), options);
    const std::vector<std::int64_t> rows = m.entries.rows(), cols = m.entries.cols();
    const Array values = m.entries.values();
    ASSERT_EQ(rows.size(), sums.size());
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(values.as<std::int64_t>()[i], sums.at({rows[i], cols[i]}));
  }
}

TEST(RandomText, DamagedTextsEndInAMessageOrAResult) {
  std::mt19937_64 random(3);
  const std::string originals[] = {"# c\n0 1\n2 3\n10 200\n",
                                   "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n2 3 1e5\n",
                                   "+1 1:1 3:2\n-1 2:5\n", "a,b\n1,\"x y\"\n2,z\n", "1 2 3\n4 5 6\n"};
  const std::string alphabet = "0123456789 \t\n,;:#%\"+-.exn\r\x01\xff";
  const Folder folder;
  for (int iteration = 0; iteration < 3000; ++iteration) {
    std::string text = originals[random() % 5];
    for (std::uint64_t k = 0; k <= random() % 4; ++k) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, random() % 5);
      else
        text[at] = alphabet[random() % alphabet.size()];
      if (text.empty()) text.push_back(static_cast<char>(10));
    }
    const std::string path = folder.write("damaged", text);
    for (const Scalar scalar : {Scalar::null, Scalar::f64, Scalar::i32}) {
      for (const Refusal& refused : {matrix_refusal(path, matrix_of(scalar)), table_refusal(path, table_of(scalar))}) {
        EXPECT_TRUE(refused.status == ExitStatus::done || refused.status == ExitStatus::bad_input ||
                    refused.status == ExitStatus::limit)
            << refused.text;
      }
    }
  }
}

}  // namespace
}  // namespace kasen
