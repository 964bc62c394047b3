// Sparse inputs: edge lists, Matrix Market, LIBSVM; every refusal names its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/system/memory_limit.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RawMatrix read(const std::string& text, const ReadOptions& options, const std::string& name = "input.txt") {
  const Folder folder;
  return read_matrix(folder.write(name, text), options);
}

Refusal refusal(const std::string& text, const ReadOptions& options, const std::string& name = "input.txt") {
  const Folder folder;
  return matrix_refusal(folder.write(name, text), options);
}

TEST(EdgeList, SkipsCommentsAndTakesEverySeparator) {
  for (const char* text : {"# a\n% b\n0\t1\n 2 3 \n\n4 5\r\n6   7\n#c\n8\t9", "0,1\r\n2,3\n# c\n4 , 5\n\n 6,\t7\n8,9\n",
                           "0;1\n2;3\n4;5\n6 ; 7\n8;9"}) {
    const RawMatrix m = read(text, matrix_of(Scalar::null));
    EXPECT_THAT(entries_of(m),
                ElementsAre(Entry{0, 1, 1}, Entry{2, 3, 1}, Entry{4, 5, 1}, Entry{6, 7, 1}, Entry{8, 9, 1}));
    EXPECT_EQ(m.row_count, 9);
    EXPECT_EQ(m.col_count, 10);
    EXPECT_FALSE(m.declared);
    EXPECT_EQ(m.digest.size(), 32U);
  }
}

TEST(EdgeList, KeepsIdsWithGapsUpTo63Bits) {
  const RawMatrix m = read("1000000000000 5\n7 9223372036854775806\n", matrix_of(Scalar::null));
  EXPECT_THAT(entries_of(m), ElementsAre(Entry{7, 9223372036854775806, 1}, Entry{1000000000000, 5, 1}));
}

TEST(EdgeList, ThirdColumnIsTheValue) {
  EXPECT_THAT(entries_of(read("0 1 2.5\n1 0 -1e3\n", matrix_of(Scalar::f64))),
              ElementsAre(Entry{0, 1, 2.5}, Entry{1, 0, -1000}));
  EXPECT_THAT(entries_of(read("0 1 7\n1 0 3.0\n", matrix_of(Scalar::i32))),
              ElementsAre(Entry{0, 1, 7}, Entry{1, 0, 3}));
  EXPECT_THAT(entries_of(read("0 1 1\n1 0 false\n", matrix_of(Scalar::boolean))),
              ElementsAre(Entry{0, 1, 1}, Entry{1, 0, 0}));
}

TEST(EdgeList, ElementsOfSeveralNumbersTakeSeveralColumns) {
  ReadOptions options;
  options.element = ElementType::array(Scalar::f64, 2);
  const RawMatrix m = read("0 1 2 3\n1 0 4 5\n", options);
  const Array values = m.entries.values();
  EXPECT_THAT(std::vector<double>(values.as<double>(0), values.as<double>(0) + 2), ElementsAre(2, 4));
  EXPECT_THAT(std::vector<double>(values.as<double>(1), values.as<double>(1) + 2), ElementsAre(3, 5));
}

TEST(EdgeList, ChosenColumnsInAnyOrder) {
  ReadOptions options = matrix_of(Scalar::i64);
  options.columns = {3, 1, 4};
  EXPECT_THAT(entries_of(read("1\tx\t2\t30\tmore\n4\ty\t5\t60\tand more\n", options)),
              ElementsAre(Entry{2, 1, 30}, Entry{5, 4, 60}));
}

// However far off it is: no more memory or time than for a near one.
TEST(EdgeList, AChosenColumnThatNoLineHasIsTold) {
  for (const std::vector<int>& columns : {std::vector{1, 3}, {3, 1}, {1, 2147483647}, {2147483646, 2147483647}}) {
    ReadOptions options = matrix_of(Scalar::null);
    options.columns.assign(columns.begin(), columns.end());
    const Refusal refused = refusal("1\t2\n4 5\n", options, "short.el");
    EXPECT_EQ(refused.status, ExitStatus::bad_input);
    EXPECT_THAT(refused.text, HasSubstr("short.el:1:4: error: a vertex id is missing"));
  }
}

TEST(EdgeList, CsvMayNameItsColumns) {
  EXPECT_THAT(entries_of(read("from,to\n0,1\n2,3\n", matrix_of(Scalar::null), "edges.csv")),
              ElementsAre(Entry{0, 1, 1}, Entry{2, 3, 1}));
}

TEST(EdgeList, FieldsMayBeQuoted) {
  const ReadOptions valued = matrix_of(Scalar::f64);
  const std::vector<Entry> wanted{{0, 3, -1}, {7, 1, 2.5}};
  EXPECT_EQ(entries_of(read("\"from\",\"to\",\"w\"\r\n\"7\",\"1\",\"2.5\"\r\n\"0\",3,\"-1\"\r\n", valued, "e.csv")),
            wanted);
  ReadOptions chosen = valued;
  chosen.columns = {1, 3, 4};
  EXPECT_EQ(entries_of(read("7,\"a, \"\"b\"\"\",1,2.5\n0,\"c\",3,-1\n", chosen, "e.csv")), wanted);
  EXPECT_EQ(entries_of(read("7 3\" 1 2.5\n0 \"c 3 -1\n", chosen)), wanted) << "what is no quoted field is text";
  for (const auto& [text, column, says] : {std::tuple{"0,1,2\n\"1,2,3\n", 1, "the quote is not closed"},
                                           std::tuple{"0,1,2\n1,\"x\",3\n", 3, "'x' is not a vertex id"},
                                           std::tuple{"0,1,2\n1,2,\"3 4\"\n", 5, "'3 4' is not a number"}}) {
    const Refusal refused = refusal(text, valued, "e.csv");
    EXPECT_EQ(refused.line, 2) << refused.text;
    EXPECT_EQ(refused.column, column) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
  }
}

TEST(EdgeList, AByteOrderMarkIsLeftOut) {
  EXPECT_THAT(entries_of(read("\xef\xbb\xbf"
                              "0 1\n2 3\n",
                              matrix_of(Scalar::null))),
              ElementsAre(Entry{0, 1, 1}, Entry{2, 3, 1}));
  const Refusal refused = refusal(
      "\xef\xbb\xbf"
      "0 x\n",
      matrix_of(Scalar::null), "a.el");
  EXPECT_EQ(refused.column, 3);
  EXPECT_THAT(refusal(std::string("\xff\xfe"
                                  "0\0 \0",
                                  6),
                      matrix_of(Scalar::null))
                  .text,
              HasSubstr("UTF-16"));
}

TEST(EdgeList, OnlyCommentsAreAnEmptyGraph) {
  const RawMatrix m = read("# nothing\n", matrix_of(Scalar::null));
  EXPECT_EQ(m.entries.count(), 0);
  EXPECT_EQ(m.row_count, 0);
}

struct BadLine {
  const char* text;
  Scalar scalar;
  int line, column;
  const char* says;
};

TEST(EdgeList, NamesTheBadLine) {
  const BadLine cases[] = {
      {"0 1\n2\n", Scalar::null, 2, 2, "a vertex id is missing"},
      {"0 1\n2 x\n", Scalar::null, 2, 3, "'x' is not a vertex id"},
      {"0 1\n-1 2\n", Scalar::null, 2, 1, "'-1' is not a vertex id"},
      {"0 1\n1.5 2\n", Scalar::null, 2, 1, "'1.5' is not a vertex id"},
      {"0 1\n1.5 2\n", Scalar::null, 2, 1, "declare a table of numbers dense"},
      {"0 1\n-1 2\n", Scalar::null, 2, 1, "add a constant to all ids, so that they are 0 or more"},
      {"0 1\n1 99999999999999999999\n", Scalar::null, 2, 3, "the largest possible is 9223372036854775806"},
      {"0 1\n9223372036854775807 1\n", Scalar::null, 2, 1, "the largest possible is 9223372036854775806"},
      {"0 1\n1 2 3\n", Scalar::null, 2, 5, "element type is null"},
      {"0 1 1\n1 2 3 4\n", Scalar::f64, 2, 7, "more than 3 columns"},
      {"0 1 1\n1 2\n", Scalar::f64, 2, 4, "a value is missing"},
      {"0 1 1\n1 2 two\n", Scalar::f64, 2, 5, "'two' is not a value of type f64"},
      {"0 1 1\n1 2 1.5\n", Scalar::i64, 2, 5, "not an integer"},
      {"0 1 1\n1 2 3000000000\n", Scalar::i32, 2, 5, "too large"},
      {"0 1 1\n1 2 1e999\n", Scalar::f64, 2, 5, "too large"},
      {"0 1 1\n1 2 1e39\n", Scalar::f32, 2, 5, "too large"},
      {"0 1 1\n1 2 2\n", Scalar::boolean, 2, 5, "none of 0, 1, false, true"},
      {"0 1\nabc", Scalar::null, 2, 1, "'abc' is not a vertex id"},
  };
  for (const BadLine& bad : cases) {
    const Refusal refused = refusal(bad.text, matrix_of(bad.scalar), "bad.el");
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << bad.text;
    EXPECT_EQ(refused.line, bad.line) << refused.text;
    EXPECT_EQ(refused.column, bad.column) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(bad.says));
    EXPECT_THAT(refused.text, HasSubstr("bad.el:2:"));
  }
}

TEST(EdgeList, TinyNumbersUnderflowToZero) {
  EXPECT_THAT(entries_of(read("0 1 1e-999\n", matrix_of(Scalar::f64))), ElementsAre(Entry{0, 1, 0}));
}

TEST(EdgeList, TheFirstBadLineIsReportedWhateverTheThreads) {
  std::string text;
  for (int i = 0; i < 1500000; ++i) text += i == 700000 || i == 1400000 ? "oops\n" : "1234567 7654321\n";
  const Refusal refused = refusal(text, matrix_of(Scalar::null));
  EXPECT_EQ(refused.line, 700001);
}

TEST(EdgeList, LongAndStrangeLinesAreShownInPart) {
  const Refusal refused = refusal("0 1\n2 \x1b[31m" + std::string(100000, 'x') + "\n", matrix_of(Scalar::null), "a.el");
  EXPECT_LT(refused.text.size(), 1000U);
  EXPECT_THAT(refused.text, Not(HasSubstr("\x1b[31m")));
}

TEST(Repeats, OfANullMatrixAreOneEntry) {
  EXPECT_THAT(entries_of(read("3 1\n0 1\n3 1\n0 2\n0 1\n", matrix_of(Scalar::null))),
              ElementsAre(Entry{0, 1, 1}, Entry{0, 2, 1}, Entry{3, 1, 1}));
}

TEST(Repeats, OfValuesAreRefusedNamingBothLines) {
  const Refusal refused = refusal("# top\n5 5 1\n0 1 2\n\n7 1 3\n0 1 4\n5 5 9\n", matrix_of(Scalar::f64));
  EXPECT_EQ(refused.status, ExitStatus::bad_input);
  EXPECT_EQ(refused.line, 6);
  EXPECT_THAT(refused.text, HasSubstr("line 3 has the same row and column"));
}

TEST(Repeats, CombineAsAsked) {
  const std::string text = "0 1 2\n900000000000 4 1\n0 1 -7\n0 1 3\n";
  const auto with = [&](Repeats how) {
    ReadOptions options = matrix_of(Scalar::f64);
    options.repeats = how;
    return entries_of(read(text, options));
  };
  const Entry other{900000000000, 4, 1};
  EXPECT_THAT(with(Repeats::sum), ElementsAre(Entry{0, 1, -2}, other));
  EXPECT_THAT(with(Repeats::first), ElementsAre(Entry{0, 1, 2}, other));
  EXPECT_THAT(with(Repeats::last), ElementsAre(Entry{0, 1, 3}, other));
  EXPECT_THAT(with(Repeats::smallest), ElementsAre(Entry{0, 1, -7}, other));
  EXPECT_THAT(with(Repeats::largest), ElementsAre(Entry{0, 1, 3}, other));
}

TEST(MatrixMarket, GeneralCountsFromOne) {
  const RawMatrix m =
      read("%%MatrixMarket matrix coordinate real general\n% c\n3 4 2\n1 1 0.5\n3 4 2\n", matrix_of(Scalar::f64));
  EXPECT_THAT(entries_of(m), ElementsAre(Entry{0, 0, 0.5}, Entry{2, 3, 2}));
  EXPECT_EQ(m.row_count, 3);
  EXPECT_EQ(m.col_count, 4);
  EXPECT_TRUE(m.declared);
}

TEST(MatrixMarket, SymmetryIsExpanded) {
  EXPECT_THAT(entries_of(read("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 5\n2 1 6\n2 3 7\n",
                              matrix_of(Scalar::f64))),
              ElementsAre(Entry{0, 0, 5}, Entry{1, 0, 6}, Entry{2, 1, 7}, Entry{0, 1, 6}, Entry{1, 2, 7}));
  EXPECT_THAT(entries_of(read("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 6\n1 3 7\n",
                              matrix_of(Scalar::i64))),
              ElementsAre(Entry{1, 0, 6}, Entry{2, 0, -7}, Entry{0, 1, -6}, Entry{0, 2, 7}));
  EXPECT_THAT(
      entries_of(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", matrix_of(Scalar::null))),
      ElementsAre(Entry{1, 0, 1}, Entry{0, 1, 1}));
}

TEST(MatrixMarket, ThePatternAloneCanBeChosen) {
  ReadOptions options = matrix_of(Scalar::null);
  options.columns = {1, 2};
  EXPECT_THAT(entries_of(read("%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 0.5\n", options)),
              ElementsAre(Entry{1, 0, 1}));
}

TEST(MatrixMarket, Refuses) {
  const std::string top = "%%MatrixMarket matrix coordinate real ";
  const std::tuple<std::string, Scalar, ExitStatus, int, const char*> cases[] = {
      {"%%MatrixMarket vector\n", Scalar::f64, ExitStatus::bad_input, 1, "not a Matrix Market header"},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 0\n", Scalar::f64, ExitStatus::bad_input, 1, "'complex'"},
      {top + "hermitian\n1 1 0\n", Scalar::f64, ExitStatus::bad_input, 1, "'hermitian'"},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n", Scalar::f64, ExitStatus::bad_input, 1, "dense"},
      {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", Scalar::f64, ExitStatus::bad_input, 1,
       "pattern"},
      {top + "general\n2 2 2\n1 1 5\n", Scalar::f64, ExitStatus::bad_input, 2,
       "announces 2 entries, and the file has 1"},
      {top + "general\n2 2 1\n1 1 5\n1 2 5\n", Scalar::f64, ExitStatus::bad_input, 2,
       "announces 1 entries, and the file has 2"},
      {top + "general\n2 2 1\n0 1 5\n", Scalar::f64, ExitStatus::bad_input, 3, "they count from 1"},
      {top + "general\n2 2 2\n1 1 5\n3 1 5\n", Scalar::f64, ExitStatus::bad_input, 4, "outside the matrix"},
      {top + "symmetric\n2 3 1\n1 1 5\n", Scalar::f64, ExitStatus::bad_input, 2, "square"},
      {top + "symmetric\n2 2 2\n1 2 5\n2 1 5\n", Scalar::f64, ExitStatus::bad_input, 4, "repeated"},
      {top + "skew-symmetric\n2 2 1\n2 2 5\n", Scalar::f64, ExitStatus::bad_input, 3, "diagonal"},
      {top + "general\n2 2 1099511627776\n1 1 5\n", Scalar::f64, ExitStatus::limit, 0, "memory"},
      {top + "general\n4611686018427387904 2 1\n1 1 5\n", Scalar::f64, ExitStatus::limit, 0, "64 bits"},
      {top + "general\n99999999999999999999 2 1\n1 1 5\n", Scalar::f64, ExitStatus::bad_input, 2,
       "the largest possible is 9223372036854775806"},
      {top + "general\n2 2\n1 1 5\n", Scalar::f64, ExitStatus::bad_input, 2, "a number of entries is missing"},
      {top + "general\n", Scalar::f64, ExitStatus::bad_input, 2, "a number of rows is missing"},
      {top + "general\n2 2 1\n1 1 5\n", Scalar::null, ExitStatus::bad_input, 3, "element type is null"},
  };
  for (const auto& [text, scalar, status, line, says] : cases) {
    const Refusal refused = refusal(text, matrix_of(scalar), "m.mtx");
    EXPECT_EQ(refused.status, status) << text << refused.text;
    EXPECT_EQ(refused.line, line) << text << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
    EXPECT_THAT(refused.text, HasSubstr("m.mtx:"));
  }
}

TEST(Libsvm, FeaturesAreASparseMatrix) {
  const RawMatrix m = read("+1 1:0.5 4:2 \n-1 # one: more\n# a comment\n-1 2:1 # 3:1\r\n", matrix_of(Scalar::f64));
  EXPECT_THAT(entries_of(m), ElementsAre(Entry{0, 0, 0.5}, Entry{0, 3, 2}, Entry{2, 1, 1}));
  EXPECT_EQ(m.row_count, 3);
  EXPECT_EQ(m.col_count, 4);
  EXPECT_TRUE(m.declared);
  EXPECT_THAT(entries_of(read("1 1:1 2:1\n", matrix_of(Scalar::null))), ElementsAre(Entry{0, 0, 1}, Entry{0, 1, 1}));
}

TEST(Libsvm, Refuses) {
  const std::tuple<const char*, int, int, const char*> cases[] = {
      {"1 1:2\n1 0:2\n", 2, 3, "they count from 1"},           {"1 1:2\n1 2:2 2:3\n", 2, 7, "must ascend"},
      {"1 1:2\n1 2:x\n", 2, 5, "'x' is not a value"},          {"1 1:2\n1 2\n", 2, 4, "':' is missing"},
      {"1 1:2\n3:1 4:1\n", 2, 1, "the label is missing"},      {"1 1:2\n1 2:1:1\n", 2, 6, "unexpected ':'"},
      {"1 1:2\n1 qid:7 2:1\n", 2, 3, "'qid:7' is no feature"},
  };
  for (const auto& [text, line, column, says] : cases) {
    ReadOptions options = matrix_of(Scalar::f64);
    options.format = FileFormat::libsvm;
    const Refusal refused = refusal(text, options);
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << text;
    EXPECT_EQ(refused.line, line) << refused.text;
    EXPECT_EQ(refused.column, column) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
  }
  EXPECT_EQ(refusal("1 1:2\n1 9000000000000000000:1\n", matrix_of(Scalar::f64)).status, ExitStatus::limit);
  EXPECT_THAT(refusal("1 1:1 2:2\n", matrix_of(Scalar::null)).text, HasSubstr("other than 1"));
}

// Rows of 1, 2, 3, 1, ... features, over several blocks of the text.
std::string many_samples(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += i % 2 == 0 ? "+1" : "-1";
    for (int k = 0; k <= i % 3; ++k)
      text += " " + std::to_string(1 + k * 1000 + i % 1000) + ":" + std::to_string(i) + ".5";
    text += i % 7 == 0 ? " # a remark\n\n" : "\n";
  }
  return text;
}

TEST(Libsvm, GivesFeaturesAndLabelsInOnePass) {
  const Folder folder;
  const std::string path = folder.write("samples.svm", many_samples(150'000));
  const ReadOptions wanted[] = {table_of(Scalar::i32), matrix_of(Scalar::f64)};
  const std::vector<RawInput> both = read_inputs(path, wanted);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].matrix.row_count, 150'000);
  EXPECT_EQ(both[1].matrix.col_count, 3'000);
  const std::vector<Entry> entries = entries_of(both[1].matrix);
  const std::vector<double> labels = numbers_of(both[0].table);
  ASSERT_EQ(entries.size(), 300'000U);
  ASSERT_EQ(labels.size(), 150'000U);
  std::size_t at = 0;
  for (std::int64_t i = 0; i < 150'000; ++i) {
    ASSERT_EQ(labels[static_cast<std::size_t>(i)], i % 2 == 0 ? 1 : -1) << i;
    for (std::int64_t k = 0; k <= i % 3; ++k)
      ASSERT_EQ(entries.at(at++), Entry(i, k * 1000 + i % 1000, static_cast<double>(i) + 0.5)) << i;
  }
  EXPECT_EQ(both[0].table.digest, both[1].matrix.digest);
  EXPECT_EQ(both[0].table.digest, read_table(path, wanted[0]).digest);
  EXPECT_EQ(entries, entries_of(read_matrix(path, wanted[1])));
}

TEST(Libsvm, ReadsFeaturesAsATableBesideOthers) {
  const Folder folder;
  ReadOptions dense = table_of(Scalar::f64);
  dense.labels = false;
  const ReadOptions wanted[] = {dense, matrix_of(Scalar::f64)};
  const std::vector<RawInput> both = read_inputs(folder.write("a.svm", "+1 1:2 3:4\n-1 2:5\n"), wanted);
  EXPECT_THAT(numbers_of(both[0].table), ElementsAre(2, 0, 4, 0, 5, 0));
  EXPECT_THAT(entries_of(both[1].matrix), ElementsAre(Entry{0, 0, 2}, Entry{0, 2, 4}, Entry{1, 1, 5}));
  EXPECT_EQ(both[0].table.digest, both[1].matrix.digest);
}

// Whichever input is listed first, and whoever finds it.
TEST(Libsvm, OfFaultsForSeveralInputsTheFirstInTheFileIsTold) {
  const std::pair<const char*, std::pair<int, int>> cases[] = {
      {"1 1:2\nyes 2:3\n1 4:x\n", {2, 1}}, {"1 1:2\n1 2:x\nyes 2:3\n", {2, 5}}, {"1 1:2\nyes 2:x\n", {2, 1}}};
  for (const auto& [text, place] : cases) {
    const Folder folder;
    const std::string path = folder.write("a.svm", text);
    ReadOptions features = matrix_of(Scalar::f64), labels = table_of(Scalar::f64);
    features.format = labels.format = FileFormat::libsvm;
    for (const auto& wanted : {std::vector{features, labels}, std::vector{labels, features}}) {
      try {
        (void)read_inputs(path, wanted);
        FAIL() << text;
      } catch (const UserError& error) {
        EXPECT_EQ(error.diagnostics()[0].where.line, place.first) << text << error.what();
        EXPECT_EQ(error.diagnostics()[0].where.column, place.second) << text << error.what();
      }
    }
  }
}

TEST(Npy, IsNoMatrixWithValues) {
  EXPECT_THAT(refusal("\x93NUMPY\x01", matrix_of(Scalar::f64), "a.npy").text, HasSubstr("dense array"));
}

// A stream of a few bytes may announce a dictionary of gigabytes.
TEST(Packed, NoDictionaryBeyondTheMemory) {
  const Folder folder;
  for (const std::string& content : {xz("0 1\n"), zstd("0 1\n", 23), zstd("0 1\n", 30)}) {  // of 8 MiB, and 1 GiB
    const std::string path = folder.write("edges", content);
    set_available_memory(1 << 20);
    const Refusal refused = matrix_refusal(path, matrix_of(Scalar::null));
    set_available_memory(-1);
    EXPECT_EQ(refused.status, ExitStatus::limit) << refused.text;
    EXPECT_EQ(matrix_refusal(path, matrix_of(Scalar::null)).status, ExitStatus::done);
  }
}

}  // namespace
}  // namespace kasen
