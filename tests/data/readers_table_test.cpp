// Dense inputs: CSV, LIBSVM labels, Matrix Market arrays, npy; and what holds for every file: compression, digests,
// detection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RawTable read_text(const std::string& text, const ReadOptions& options, const std::string& name = "input.txt") {
  const Folder folder;
  return read_table(folder.write(name, text), options);
}

Refusal refused_text(const std::string& text, const ReadOptions& options, const std::string& name = "input.txt") {
  const Folder folder;
  return table_refusal(folder.write(name, text), options);
}

// Codes of words are stored once all words are known, and one column has one plane.
TEST(Csv, WordsAndSingleColumnsStayByRow) {
  ReadOptions options = table_of(Scalar::f64);
  options.by_column = true;
  EXPECT_FALSE(read_text("1\n2\n", options).by_column());
  options.words = {ColumnChoice(2)};
  const RawTable table = read_text("1,b\n2,a\n", options);
  EXPECT_FALSE(table.by_column());
  EXPECT_THAT(numbers_of(table), ElementsAre(1, 1, 2, 0));
  const Refusal said = refused_text("1,2\n3,x\n", {.element = options.element, .sparse = false, .by_column = true});
  EXPECT_EQ(std::pair(said.line, said.column), std::pair(2, 3)) << said.text;
}

TEST(Csv, EveryDelimiter) {
  for (const char* text : {"1,2.5,-3\n4,5,6\n", "1;2.5;-3\n4;5;6", "1\t2.5\t-3\r\n4\t5\t6\r\n", " 1  2.5 -3\n4 5 6 \n",
                           "# top\n1, 2.5, -3\n\n4 ,5,6\n", "a,b,c\n1,2.5,-3\n4,5,6\n", "\"1\",2.5,-3\n4,\"5\",6\n"}) {
    const RawTable t = read_text(text, table_of(Scalar::f64));
    EXPECT_EQ(t.rows, 2) << text;
    EXPECT_EQ(t.cols, 3) << text;
    EXPECT_THAT(numbers_of(t), ElementsAre(1, 2.5, -3, 4, 5, 6)) << text;
    EXPECT_TRUE(t.dictionaries.empty()) << text;
  }
}

// Against strtod and strtof, which round once.
TEST(Csv, DecimalsAreRoundedOnce) {
  std::mt19937_64 random(11);
  std::string text;
  std::vector<std::string> numbers{"9007199254740993",
                                   "9007199254740992.5",
                                   "0.1",
                                   "-0.0",
                                   "+.5",
                                   "7.",
                                   "16777217",
                                   "0.00000000000000000000012345",
                                   "1234567890123456789012",
                                   "123456789.0123456789"};
  for (int i = 0; i < 4000; ++i) {
    std::string digits = std::to_string(random() >> (random() % 64));
    digits.insert(random() % (digits.size() + 1), ".");
    if (random() % 4 == 0) digits.insert(0, "-");
    if (random() % 8 == 0) digits += "e" + std::to_string(static_cast<int>(random() % 20) - 10);
    if (digits.find_first_of("0123456789") < digits.find('e')) numbers.push_back(digits);
  }
  for (const std::string& number : numbers) text += number + '\n';
  const RawTable wide = read_text(text, table_of(Scalar::f64), "v.csv"),
                 narrow = read_text(text, table_of(Scalar::f32), "v.csv");
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double f64 = std::strtod(numbers[i].c_str(), nullptr);
    const float f32 = std::strtof(numbers[i].c_str(), nullptr);
    EXPECT_EQ(std::memcmp(wide.values.as<double>() + i, &f64, 8), 0) << numbers[i];
    EXPECT_EQ(std::memcmp(narrow.values.as<float>() + i, &f32, 4), 0) << numbers[i];
  }
}

TEST(Csv, OneColumnIsAVector) {
  const RawTable t = read_text("value\n3\n1\n2\n", table_of(Scalar::i32), "v.csv");
  EXPECT_EQ(t.cols, 1);
  EXPECT_THAT(numbers_of(t), ElementsAre(3, 1, 2));
}

TEST(Csv, TwoColumnsOfIntegersAreATableToo) {
  EXPECT_THAT(numbers_of(read_text("1 2\n3 4\n", table_of(Scalar::i64))), ElementsAre(1, 2, 3, 4));
}

TEST(Csv, ColumnsAreChosenInAnyOrder) {
  ReadOptions options = table_of(Scalar::f64);
  options.columns = {3, 1};
  const RawTable t = read_text("1,x,3\n4,,6\n", options);
  EXPECT_EQ(t.cols, 2);
  EXPECT_THAT(numbers_of(t), ElementsAre(3, 1, 6, 4));
  options.columns = {2, 4};
  EXPECT_EQ(refused_text("1,x,3\n4,y,6\n", options).status, ExitStatus::usage);
}

TEST(Csv, Refuses) {
  const std::tuple<const char*, int, int, const char*> cases[] = {
      {"1,2\n3,\n", 2, 3, "a cell is missing"},
      {"1,2\n,3\n", 2, 1, "a cell is missing"},
      {"x,2\n,3\n", 1, 1, "'x' is not a value of type f64"},
      {"1,2\n3\n", 2, 2, "the row has 1 column, and the first has 2"},
      {"1,2\n3,4,5\n", 2, 5, "more columns"},
      {"1,2\n3,4\n5,x\n", 3, 3, "'x' is not a value of type f64"},
      {"1,a\n3,\"b\n", 2, 3, "not closed"},
      {"1,2\n3,4 5\n", 2, 3, "'4 5' is not a number"},
  };
  for (const auto& [text, line, column, says] : cases) {
    const Refusal refused = refused_text(text, table_of(Scalar::f64), "t.csv");
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << text;
    EXPECT_EQ(refused.line, line) << refused.text;
    EXPECT_EQ(refused.column, column) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
  }
  EXPECT_THAT(refused_text("# nothing\n", table_of(Scalar::f64), "t.csv").text, HasSubstr("no rows"));
  EXPECT_THAT(refused_text("1 2\n", table_of(Scalar::null)).text, HasSubstr("no values"));
  for (const char* words : {"a\nb\nc\n", "yes\nno\n"})
    EXPECT_THAT(refused_text(words, table_of(Scalar::boolean), "t.csv").text, HasSubstr("is not a value of type bool"));
}

// A row of values is not lost as a line of names.
TEST(Csv, TheFirstLineIsNamesOrValues) {
  const ReadOptions options = table_of(Scalar::f64);
  for (const char* text :
       {"1,2 # x\n3,4\n", "1,x\n3,4\n", "0x10,2\n4,5\n", "$5\n6\n", "1_000\n2\n", "2019,name\n1,2\n"}) {
    const Refusal refused = refused_text(text, options, "t.csv");
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << text;
    EXPECT_EQ(refused.line, 1) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr("neither names nor values"));
  }
  for (const char* text : {"a,b\n3,4\n", "label,1x1\n3,4\n", "_,\xC3\xA4\n3,4\n", ",x\n3,4\n", "# 1,x\n3,4\n"})
    EXPECT_THAT(numbers_of(read_text(text, options, "t.csv")), ElementsAre(3, 4)) << text;
}

// Also beyond 2^53, where a double is another number.
TEST(Csv, WholeNumbersAreExact) {
  const RawTable table = read_text(
      "9007199254740993.0\n9007199254740993e0\n-9223372036854775808.000\n.9223372036854775807e19\n+1.50e1\n0e99\n-0.0\n"
      "0.0e-99999999999999999999\n120e-1\n",
      table_of(Scalar::i64), "t.csv");
  const std::int64_t two53 = std::int64_t{1} << 53;
  const std::vector<std::int64_t> expected{two53 + 1,
                                           two53 + 1,
                                           std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max(),
                                           15,
                                           0,
                                           0,
                                           0,
                                           12};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(table.values.as<std::int64_t>()[i], expected[i]) << i;
  for (const auto& [text, says] :
       std::initializer_list<std::pair<std::string, const char*>>{{"9007199254740993.5", "not an integer"},
                                                                  {"9223372036854775808e0", "too large"},
                                                                  {"-9223372036854775809e0", "too large"},
                                                                  {"1e19", "too large"},
                                                                  {"15e-1", "not an integer"},
                                                                  {"inf", "not an integer"},
                                                                  {"nan", "not an integer"}})
    EXPECT_THAT(refused_text("1\n" + text + "\n", table_of(Scalar::i64), "t.csv").text, HasSubstr(says)) << text;
}

TEST(Libsvm, LabelsAreAVectorAndFeaturesMayBeDense) {
  const std::string text = "+1 1:0.5 3:2 \n-1 2:1\n2\n";
  const RawTable labels = read_text(text, table_of(Scalar::i32));
  EXPECT_EQ(labels.cols, 1);
  EXPECT_THAT(numbers_of(labels), ElementsAre(1, -1, 2));
  ReadOptions options = table_of(Scalar::f64);
  options.labels = false;
  const RawTable features = read_text(text, options);
  EXPECT_EQ(features.cols, 3);
  EXPECT_THAT(numbers_of(features), ElementsAre(0.5, 0, 2, 0, 1, 0, 0, 0, 0));
}

TEST(MatrixMarket, ArraysGoByColumns) {
  const RawTable t =
      read_text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n\n3\n4\n5\n6\n", table_of(Scalar::f64));
  EXPECT_EQ(t.rows, 2);
  EXPECT_THAT(numbers_of(t), ElementsAre(1, 3, 5, 2, 4, 6));
  const Refusal cut = refused_text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n", table_of(Scalar::f64));
  EXPECT_THAT(cut.text, HasSubstr("announces 6 entries, and the file has 2"));
  const std::string vast = "%%MatrixMarket matrix array real general\n4294967296 4294967296\n1\n";
  EXPECT_EQ(refused_text(vast, table_of(Scalar::f64)).status, ExitStatus::limit);
  EXPECT_EQ(
      refused_text("%%MatrixMarket matrix array real general\n1048576 1048576\n1\n", table_of(Scalar::f64)).status,
      ExitStatus::limit);
}

template <class T>
std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::vector<T>& values, int version = 1) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const size_t start = version == 1 ? 10 : 12;
  while ((start + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (size_t i = 0; i < (version == 1 ? 2U : 4U); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255U);
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

TEST(Npy, EdgesOfAPattern) {
  const Folder folder;
  const ReadOptions pattern = matrix_of(Scalar::null);
  const auto read = [&](const std::string& bytes) {
    return entries_of(read_matrix(folder.write("e.npy", bytes), pattern));
  };
  const std::vector<Entry> wanted{{2, 1, 1}, {0, 5, 1}};
  EXPECT_EQ(read(npy<std::int64_t>("<i8", "False", "(2, 2)", {2, 1, 0, 5})).size(), wanted.size());
  const std::vector<Entry> sorted{{0, 5, 1}, {2, 1, 1}};
  for (const bool twice : {false, true}) {
    std::vector<std::uint32_t> ids{2, 1, 0, 5};
    if (twice) ids.insert(ids.end(), {2, 1});
    auto entries = read(npy<std::uint32_t>("<u4", "False", twice ? "(3, 2)" : "(2, 2)", ids));
    std::sort(entries.begin(), entries.end());
    EXPECT_EQ(entries, sorted) << "a repeated edge is one entry";
  }
  EXPECT_EQ(read(npy<std::int64_t>("<i8", "True", "(2, 2)", {2, 0, 1, 5})), sorted) << "as numpy.argwhere returns them";
  EXPECT_EQ(read(npy<std::uint16_t>(">u2", "False", "(2, 2)", {0x200, 0x100, 0, 0x500})), sorted);
  EXPECT_EQ(read(npy<std::uint8_t>("|u1", "True", "(2, 2)", {2, 0, 1, 5})), sorted);
  EXPECT_TRUE(read(npy<std::int64_t>("<i8", "False", "(0, 2)", {})).empty());
  struct Case {
    std::string bytes, says;
    Scalar scalar = Scalar::null;
  };
  for (const Case& c : {Case{npy<double>("<f8", "False", "(1, 2)", {1, 2}), "ids are integers"},
                        Case{npy<std::int64_t>("<i8", "False", "(2,)", {1, 2}), "shape (edges, 2)"},
                        Case{npy<std::int64_t>("<i8", "False", "(1, 3)", {1, 2, 3}), "shape is (1, 3)"},
                        Case{npy<std::int64_t>("<i8", "False", "(2, 2)", {1, 2, 3, -4}), "element [1, 1] is -4"},
                        Case{npy<std::uint64_t>("<u8", "False", "(1, 2)", {1UL << 63U, 4}), "element [0, 0]"},
                        Case{npy<std::int64_t>("<i8", "False", "(3, 2)", {1, 2}), "asks for 48 bytes"},
                        Case{npy<std::int64_t>("<i8", "False", "(1, 2)", {1, 2}), "dense array", Scalar::f64}}) {
    const Refusal refusal = matrix_refusal(folder.write("e.npy", c.bytes), matrix_of(c.scalar));
    EXPECT_EQ(refusal.status, ExitStatus::bad_input) << c.says;
    EXPECT_THAT(refusal.text, HasSubstr(c.says));
  }
}

TEST(Npy, TypesOrdersAndVersions) {
  const auto f64 = table_of(Scalar::f64);
  EXPECT_THAT(numbers_of(read_text(npy<double>("<f8", "False", "(2, 3)", {1, 2, 3, 4, 5, 6.5}), f64)),
              ElementsAre(1, 2, 3, 4, 5, 6.5));
  EXPECT_THAT(numbers_of(read_text(npy<double>("<f8", "True", "(2, 3)", {1, 2, 3, 4, 5, 6}), f64)),
              ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(numbers_of(read_text(npy<float>("<f4", "False", "(2,)", {1.5F, -2}, 2), f64)), ElementsAre(1.5, -2));
  EXPECT_THAT(numbers_of(read_text(npy<std::int64_t>("<i8", "False", "(1, 2)", {7, -8}), table_of(Scalar::i32))),
              ElementsAre(7, -8));
  EXPECT_THAT(numbers_of(read_text(npy<std::int32_t>("<i4", "False", "()", {7}), table_of(Scalar::i64))),
              ElementsAre(7));
  EXPECT_THAT(numbers_of(read_text(npy<std::uint8_t>("|b1", "False", "(2,)", {1, 0}), table_of(Scalar::boolean))),
              ElementsAre(1, 0));
  EXPECT_THAT(numbers_of(read_text(npy<std::uint8_t>("|u1", "False", "(2,)", {255, 0}), f64)), ElementsAre(255, 0));
  EXPECT_THAT(numbers_of(read_text(npy<std::int8_t>("|i1", "True", "(2,)", {-128, 1}), f64)), ElementsAre(-128, 1));
  EXPECT_THAT(numbers_of(read_text(npy<std::uint16_t>(">u2", "False", "(2,)", {0x0100, 0xFFFF}), f64)),
              ElementsAre(1, 65535));
  EXPECT_THAT(numbers_of(read_text(npy<std::int16_t>(">i2", "False", "(1,)", {-2}), f64)), ElementsAre(-257));
  EXPECT_THAT(numbers_of(read_text(npy<std::uint64_t>("<u8", "False", "(1,)", {1UL << 63U}), f64)),
              ElementsAre(0x1p63));
  EXPECT_THAT(numbers_of(read_text(npy<double>(">f8", "True", "(1,)", {std::bit_cast<double>(0xF03FUL)}), f64)),
              ElementsAre(1));
  EXPECT_THAT(numbers_of(read_text(npy<double>(">f8", "False", "(1,)", {std::bit_cast<double>(0xF03FUL)}), f64)),
              ElementsAre(1));
  const std::vector<std::uint16_t> halves{0x3C00, 0xC100, 0x0001, 0x7BFF, 0xFC00, 0x8000};
  EXPECT_THAT(numbers_of(read_text(npy<std::uint16_t>("<f2", "False", "(6,)", halves), f64)),
              ElementsAre(1, -2.5, 0x1p-24, 65504, -INFINITY, 0));
  const RawTable cube =
      read_text(npy<std::int32_t>("<i4", "False", "(2, 2, 2)", {1, 2, 3, 4, 5, 6, 7, 8}), table_of(Scalar::i64));
  EXPECT_EQ(cube.cols, 4);
  EXPECT_THAT(cube.axes, ElementsAre(2, 2, 2));
}

TEST(Npy, Refuses) {
  const std::tuple<std::string, Scalar, ExitStatus, const char*> cases[] = {
      {npy<double>("<f8", "False", "(3,)", {1, 2}), Scalar::f64, ExitStatus::bad_input,
       "asks for 24 bytes of elements, and it has 16"},
      {npy<double>("<f8", "False", "(1,)", {1, 2}), Scalar::f64, ExitStatus::bad_input, "asks for 8"},
      {npy<double>("<c16", "False", "(1,)", {1, 2}), Scalar::f64, ExitStatus::bad_input, "'<c16'"},
      {npy<double>("<", "False", "(1,)", {1}), Scalar::f64, ExitStatus::bad_input, "'<'"},
      {npy<double>("", "False", "(1,)", {1}), Scalar::f64, ExitStatus::bad_input, "elements are ''"},
      {npy<std::uint64_t>("<u8", "False", "(1,)", {1UL << 63U}), Scalar::i64, ExitStatus::bad_input, "does not fit"},
      {npy<double>("<f8", "False", "(2,)", {1, 2.5}), Scalar::i64, ExitStatus::bad_input,
       "element [1, 0] does not fit"},
      {npy<double>("<f8", "False", "(2,)", {1, 1e300}), Scalar::f32, ExitStatus::bad_input,
       "element [1, 0] does not fit"},
      {npy<double>("<f8", "False", "(2,)", {1, std::nan("")}), Scalar::i64, ExitStatus::bad_input, "does not fit"},
      {npy<std::int64_t>("<i8", "False", "(2,)", {1, 1L << 40}), Scalar::i32, ExitStatus::bad_input, "does not fit"},
      {npy<double>("<f8", "False", "(4294967296, 4294967296)", {1}), Scalar::f64, ExitStatus::limit, "64 bits"},
      {npy<double>("<f8", "False", "(99999999999999999999, 2)", {1}), Scalar::f64, ExitStatus::limit, "64 bits"},
      {npy<double>("<f8", "False", "(1099511627776,)", {1}), Scalar::f64, ExitStatus::limit, "memory"},
      {npy<double>("<f8", "False", "(-1, 2)", {1}), Scalar::f64, ExitStatus::bad_input, "not a tuple of sizes"},
      {npy<double>("<f8", "False", "(2,)", {1, 2}).substr(0, 40), Scalar::f64, ExitStatus::bad_input,
       "in the middle of its header"},
      {std::string("\x93NUMPY\x07\0\0\0\0\0\0", 13), Scalar::f64, ExitStatus::bad_input, "version is 7"},
  };
  for (const auto& [bytes, scalar, status, says] : cases) {
    const Refusal refused = refused_text(bytes, table_of(scalar), "a.npy");
    EXPECT_EQ(refused.status, status) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
    EXPECT_THAT(refused.text, HasSubstr("a.npy: "));
  }
}

TEST(Compression, IsToldByTheContent) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + ' ' + std::to_string(i * 7 % 1000) + '\n';
  const RawMatrix plain = read_matrix(folder.write("plain.txt", text), matrix_of(Scalar::null));
  ASSERT_EQ(plain.entries.count(), 300000);
  const std::string skipped_frame("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);  // of zstd
  const std::string half = text.substr(0, 1000000), rest = text.substr(1000000);
  for (const std::string& packed : {gzip(text), xz(text), zstd(text), gzip(half) + gzip(rest), xz(half) + xz(rest),
                                    zstd(half) + zstd(rest), skipped_frame + zstd(half) + zstd(rest)}) {
    const RawMatrix m = read_matrix(folder.write("packed", packed), matrix_of(Scalar::null));
    EXPECT_EQ(m.digest, plain.digest);
    EXPECT_EQ(m.entries.rows(), plain.entries.rows());
    EXPECT_EQ(m.entries.cols(), plain.entries.cols());
    EXPECT_EQ(detect_format(folder.file("packed")), FileFormat::edge_list);
  }
}

TEST(Compression, DamageIsRefused) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + ' ' + std::to_string(i * 7919 % 100003) + '\n';
  for (const std::string& packed : {gzip(text), xz(text), zstd(text)}) {
    for (const size_t cut : {packed.size() - 1, packed.size() / 2, size_t{30}, size_t{8}}) {
      const Refusal refused = matrix_refusal(folder.write("cut", packed.substr(0, cut)), matrix_of(Scalar::null));
      EXPECT_EQ(refused.status, ExitStatus::bad_input) << cut;
      EXPECT_THAT(refused.text, HasSubstr("damaged"));
    }
    std::string flipped = packed;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 4);
    EXPECT_EQ(matrix_refusal(folder.write("flipped", flipped), matrix_of(Scalar::null)).status, ExitStatus::bad_input);
    const Refusal more = matrix_refusal(folder.write("more", packed + "more"), matrix_of(Scalar::null));
    EXPECT_THAT(more.text, HasSubstr("damaged"));
    EXPECT_THAT(more.text, HasSubstr(folder.file("more")));
  }
}

TEST(InputFile, MissingFoldersAndEmptyFiles) {
  const Folder folder;
  EXPECT_EQ(matrix_refusal(folder.file("absent"), matrix_of(Scalar::null)).status, ExitStatus::missing_input);
  EXPECT_EQ(matrix_refusal(folder.file(""), matrix_of(Scalar::null)).status, ExitStatus::missing_input);
  EXPECT_EQ(matrix_refusal(folder.write("empty", ""), matrix_of(Scalar::null)).status, ExitStatus::bad_input);
  EXPECT_EQ(matrix_refusal(folder.write("empty.gz", gzip("")), matrix_of(Scalar::null)).status, ExitStatus::bad_input);
  EXPECT_EQ(matrix_refusal(folder.write("empty.zst", zstd("")), matrix_of(Scalar::null)).status, ExitStatus::bad_input);
  EXPECT_THAT(matrix_refusal(folder.write("blank", " \n\r\n\t\n"), matrix_of(Scalar::null)).text,
              HasSubstr("blank lines alone"));
}

TEST(InputFile, WhatWouldBeReadAsSomethingElseIsRefused) {
  const Folder folder;
  const ReadOptions pattern = matrix_of(Scalar::null);
  EXPECT_THAT(matrix_refusal(folder.write("a.txt", "0 1\r1 2\r"), pattern).text, HasSubstr("carriage return alone"));
  EXPECT_EQ(entries_of(read_matrix(folder.write("b.txt", "0 1\r"), pattern)).size(), 1U);
  for (const std::string name : {"c.graph", "c.graph.gz"})
    EXPECT_THAT(matrix_refusal(folder.write(name, "3 3\n2 3\n1 3\n1 2\n"), pattern).text, HasSubstr("METIS"));
  ReadOptions reported = pattern;
  reported.format = FileFormat::edge_list;
  EXPECT_EQ(entries_of(read_matrix(folder.write("edges.graph", "0 1\n"), reported)).size(), 1U);
  const std::string said = matrix_refusal(folder.write("d.el", "0 1\n\x80\xC2\x9B\xC3\xA4 2\n"), pattern).text;
  EXPECT_THAT(said, HasSubstr("'???\xC3\xA4' is not a vertex id"));
  EXPECT_THAT(said, HasSubstr("number the vertices"));
}

TEST(InputFile, TheDigestIsXxh3Of128Bits) {
  // The canonical form, as xxhash's own library gives it for these four bytes.
  EXPECT_EQ(read_text("0 1\n", table_of(Scalar::f64)).digest, "e65a22226b99f00d594c5704c4de8d9c");
}

TEST(Detection, ByContentThenByName) {
  const Folder folder;
  const std::tuple<const char*, const char*, FileFormat> cases[] = {
      {"a", "0 1\n2 3\n", FileFormat::edge_list},
      {"a", "# c\n0\t1\t0.5\n", FileFormat::edge_list},
      {"a", "1 2 3 4\n", FileFormat::csv},
      {"a", "0.5 1\n", FileFormat::csv},
      {"a", "+1 3:1 4:1 \n", FileFormat::libsvm},
      {"a", "+1\n-1\n1 2:1\n", FileFormat::libsvm},
      {"a", "%%MatrixMarket m\n", FileFormat::matrix_market},
      {"a", "\x93NUMPY", FileFormat::npy},
      {"a.csv", "0,1\n", FileFormat::csv},
      {"a.csv.gz", "0,1\n", FileFormat::csv},
      {"a", "0,1\n", FileFormat::edge_list},
      {"a.el", "zero one\n", FileFormat::edge_list},
      {"a", "tcp,1,2\n", FileFormat::csv},
  };
  for (const auto& [name, text, format] : cases) EXPECT_EQ(detect_format(folder.write(name, text)), format) << text;
}

}  // namespace
}  // namespace kasen
