// Columns by number, range and name; lines of names of every shape, over tables and over entries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/base/count_text.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RawTable table(const std::string& text, const std::string& columns = "") {
  const Folder folder;
  ReadOptions options = table_of(Scalar::f64);
  if (!columns.empty()) options.columns = parse_columns(columns);
  return read_table(folder.write("t.csv", text), options);
}

Refusal refused(const std::string& text, const std::string& columns = "", Scalar scalar = Scalar::f64,
                bool sparse = false) {
  const Folder folder;
  ReadOptions options = sparse ? matrix_of(scalar) : table_of(scalar);
  if (!columns.empty()) options.columns = parse_columns(columns);
  const std::string path = folder.write("t.csv", text);
  return sparse ? matrix_refusal(path, options) : table_refusal(path, options);
}

std::string fault_of(const std::string& columns) {
  try {
    (void)parse_columns(columns);
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return error.what();
  }
  return "";
}

TEST(Columns, ByNumberRangeAndName) {
  const std::string text = "id,age,income,2-x,big one\n1,2,3,4,5\n6,7,8,9,10\n";
  for (const char* columns : {"2,3", "2-3", "age,income", "age, 3", "2,income"})
    EXPECT_THAT(numbers_of(table(text, columns)), ElementsAre(2, 3, 7, 8)) << columns;
  EXPECT_THAT(numbers_of(table(text, "4-")), ElementsAre(4, 5, 9, 10));
  EXPECT_THAT(numbers_of(table(text, "big one,2-x,1")), ElementsAre(5, 4, 1, 10, 9, 6));
  EXPECT_THAT(numbers_of(table(text, "5,1-2")), ElementsAre(5, 1, 2, 10, 6, 7));
  EXPECT_THAT(numbers_of(table("\"a\";\"b\"\n1;2\n", "b")), ElementsAre(2));
  EXPECT_THAT(numbers_of(table("a b\n1 2\n", "b")), ElementsAre(2));
  EXPECT_THAT(numbers_of(table("a\tb c\n1\t2\n", "b c")), ElementsAre(2));
}

TEST(Columns, Refuses) {
  EXPECT_THAT(fault_of("2..5"), HasSubstr("'2..5' is no range of columns; a range has both of its ends; write 2-5"));
  EXPECT_THAT(fault_of("5-2"), HasSubstr("write 2-5"));
  EXPECT_THAT(fault_of("0"), HasSubstr("there is no column 0; they count from 1"));
  EXPECT_THAT(fault_of("99999999999999999999"), HasSubstr("there is no column"));
  EXPECT_THAT(fault_of("1,,2"), HasSubstr("a place without a column"));
  EXPECT_THAT(fault_of(""), HasSubstr("a place without a column"));
  const std::string text = "age,income,income\n1,2,3\n4,5,6\n";
  const std::tuple<const char*, const char*> cases[] = {
      {"incom", "there is no column 'incom'; the first line has age, income, income; did you mean 'income'?"},
      {"weight", "there is no column 'weight'; the first line has age, income, income; choose it by its number"},
      {"income", "several columns are named 'income'"},
      {"age,1", "column 1 is chosen twice"},
      {"1-2,2", "column 2 is chosen twice"},
      {"4", "there is no column 4; the columns are 1 to 3"},
      {"2-4", "there is no column 4"},
      {"4-", "there is no column 4"}};
  for (const auto& [columns, says] : cases) {
    const Refusal refusal = refused(text, columns);
    EXPECT_EQ(refusal.status, ExitStatus::usage) << columns;
    EXPECT_THAT(refusal.text, HasSubstr(says));
    EXPECT_THAT(refusal.text, HasSubstr("t.csv: error: "));
  }
  EXPECT_THAT(refused("1,2\n3,4\n", "age").text, HasSubstr("no line names the columns, which are 1 to 2"));
}

TEST(Columns, OfEntriesHaveNamesToo) {
  const Folder folder;
  ReadOptions options = matrix_of(Scalar::f64);
  options.columns = parse_columns("from,to,weight");
  for (const char* text : {"to,when,weight,from\n1,x,2.5,0\n0,y,-1,7\n", "to when weight from\n1 x 2.5 0\n0 y -1 7\n",
                           "to\twhen\tweight\tfrom\n1\t\t2.5\t0\n0\ty y\t-1\t7\n",
                           "# c\n\"to\";\"when\";\"weight\";\"from\"\n1;\"a;b\";2.5;0\n0;;-1;7\n"})
    EXPECT_THAT(entries_of(read_matrix(folder.write("e.csv", text), options)),
                ElementsAre(Entry{0, 1, 2.5}, Entry{7, 0, -1}))
        << text;
  EXPECT_THAT(refused("from,to,w\n0,1,2\n", "from,to,weight", Scalar::f64, true).text, HasSubstr("no column 'weight'"));
  EXPECT_THAT(refused("from,to,w\n0,1,2\n", "from,to", Scalar::f64, true).text,
              HasSubstr("2 columns are chosen, and an entry has 3; it is a row, a column and a value"));
}

TEST(Columns, AreNotChosenInVain) {
  const Folder folder;
  ReadOptions options = table_of(Scalar::f64);
  options.columns = {1};
  for (const auto& [name, text] :
       {std::pair{"a.svm", "1 1:2\n"}, {"a.mtx", "%%MatrixMarket matrix array real general\n1 1\n5\n"}}) {
    EXPECT_EQ(table_refusal(folder.write(name, text), options).status, ExitStatus::usage) << name;
  }
  ReadOptions words = matrix_of(Scalar::null);
  words.words = {1};
  EXPECT_EQ(matrix_refusal(folder.write("e.txt", "0 1\n"), words).status, ExitStatus::usage);
  words = table_of(Scalar::f64);
  words.columns = {1};
  words.words = {2};
  EXPECT_THAT(table_refusal(folder.write("t.csv", "1,x\n2,y\n"), words).text,
              HasSubstr("column 2 holds words and is not taken"));
}

// The number of names against the number of columns, by each delimiter, quoted or not; R's write.table has one less.
TEST(Names, AreAsManyAsColumns) {
  for (const char delimiter : {',', ';', '\t', ' '})
    for (const bool quoted : {false, true})
      for (int names = 1; names <= 6; ++names)
        for (const bool sparse : {false, true}) {
          constexpr int columns = 4;
          const std::string quote = quoted ? "\"" : "";
          std::string text;
          for (int c = 0; c < names; ++c)
            text += (c > 0 ? std::string(1, delimiter) : "") + quote + "n" + std::to_string(c) + quote;
          for (int row = 0; row < 3; ++row) {
            text += '\n';
            for (int c = 0; c < columns; ++c)
              text += (c > 0 ? std::string(1, delimiter) : "") + std::to_string(10 * row + c);
          }
          text += '\n';
          const Refusal refusal = refused(text, sparse ? "2,3" : "", sparse ? Scalar::null : Scalar::f64, sparse);
          EXPECT_EQ(refusal.status, names == columns ? ExitStatus::done : ExitStatus::bad_input)
              << text << refusal.text;
          if (names == columns) continue;
          EXPECT_EQ(refusal.line, 1) << text << refusal.text;
          EXPECT_THAT(refusal.text, HasSubstr("the first line names " + count_text(names, "column"))) << text;
          if (names + 1 == columns) {
            EXPECT_THAT(refusal.text, HasSubstr("R's write.table")) << text;
          }
        }
}

// The first edge is an edge: separators, signs and quotes.
TEST(Names, NoFirstEdgeIsTakenForThem) {
  for (const std::string separator : {",", ";", " ", "\t", " , "})
    for (const char* quote : {"", "\""})
      for (const std::string first : {"-1", "+1", "1", "01", "1.0", "1e0", ".5", "-.5", "x1", "?", "_", "-", "NA"}) {
        const auto line = [&](const std::string& a, const std::string& b) {
          return quote + a + quote + separator + quote + b + quote + "\n";
        };
        const Refusal refusal = refused(line(first, "2") + line("1", "2") + line("3", "4"), "", Scalar::null, true);
        const bool good = first == "1" || first == "01";
        EXPECT_EQ(refusal.status, good ? ExitStatus::done : ExitStatus::bad_input) << first << separator << quote;
        if (!good) {
          EXPECT_EQ(refusal.line, 1) << refusal.text;
        }
      }
  const Folder folder;
  for (const char* text : {"from,to\n1,2\n", "from;to\n1;2\n", "from to\n1 2\n", "\"from\",\"to\"\n\"1\",\"2\"\n",
                           "# c\n\nfrom\tto\n# d\n1\t2\n"})
    EXPECT_THAT(entries_of(read_matrix(folder.write("e.csv", text), matrix_of(Scalar::null))),
                ElementsAre(Entry{1, 2, 1}))
        << text;
}

}  // namespace
}  // namespace kasen
