// Columns of numbers hold numbers alone; columns of words are those that the caller names, with the codes of a
// dictionary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcomm/data/table/dictionary.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RawTable words_of_text(const std::string& text, const ReadOptions& options) {
  const Folder folder;
  return read_table(folder.write("t.csv", text), options);
}

Refusal refusal_of_text(const std::string& text, const ReadOptions& options) {
  const Folder folder;
  return table_refusal(folder.write("t.csv", text), options);
}

ReadOptions with_words(const std::vector<ColumnChoice>& columns, Scalar scalar = Scalar::f64) {
  ReadOptions options = table_of(scalar);
  options.words = columns;
  return options;
}

// What is no number as C++ writes them, in every place of a table, with and without quotes, by each delimiter.
const char* const no_numbers[] = {"1,5",
                                  "1,000",
                                  "1.000,5",
                                  "1 000",
                                  "10%",
                                  "$3",
                                  "3M",
                                  "2020-01-01",
                                  "01/02/2020",
                                  "12:30",
                                  "true",
                                  "False",
                                  "yes",
                                  "NA",
                                  "N/A",
                                  "null",
                                  "-",
                                  "?",
                                  "x",
                                  "0x10",
                                  "1_000",
                                  "1e",
                                  "--1",
                                  "+-1",
                                  "1.2.3",
                                  "\xC2\xBD",
                                  "1'000",
                                  "1f",
                                  "1d0",
                                  "{\"a\":1}",
                                  "[1",
                                  "(1)",
                                  "=1+1",
                                  "#REF!",
                                  "1e+",
                                  "1e400",
                                  "infinite",
                                  ".",
                                  "e5",
                                  "\xE2\x88\x92"
                                  "1"};

TEST(Numbers, WhatIsNoneIsRefusedWithItsPlace) {
  for (const std::string value : no_numbers)
    for (const char delimiter : {',', ';', '\t'})
      for (const bool quoted : {false, true})
        for (const int row : {1, 2, 3}) {
          if (!quoted && (value.find(delimiter) != std::string::npos || value[0] == '#')) continue;
          std::string cell = value;
          if (quoted) cell = '"' + (value[0] == '{' ? "{\"\"a\"\":1}" : value) + '"';
          std::string text;
          for (int k = 1; k <= 4; ++k)
            text += "1" + std::string(1, delimiter) + (k == row ? cell : "2") + delimiter + "3\n";
          const Refusal refused = refusal_of_text(text, table_of(Scalar::f64));
          EXPECT_EQ(refused.status, ExitStatus::bad_input) << text;
          EXPECT_EQ(refused.line, row) << text << refused.text;
          EXPECT_GE(refused.column, 1) << text << refused.text;
        }
}

// Where nothing but words stands in a file, no code is made of it, either.
TEST(Numbers, FilesOfOtherKindsAreRefused) {
  const std::tuple<const char*, const char*> cases[] = {
      {"{\"x\": [1, 2], \"y\": 3}\n", "after the cell"},
      {"{\n  \"x\": 1,\n  \"y\": 2\n}\n", "after the cell"},
      {"[[1, 2],\n[3, 4]]\n", "is not a value of type f64"},
      {"age,income\n", "the file has no rows; its one line holds the names"},
      {"age\n", "the file has no rows; its one line holds the names"},
      {"true\n1\n0\n", "'true' is not a value of type f64"},
      {"yes,no\n1,2\n", "'yes' is not a value of type f64"},
      {"NA\n1\n", "'NA' is not a value of type f64"},
      {"a,b\nc,d\n", "'a' is not a value of type f64"},
      {"<html><body>1</body></html>\n", "is not a value of type f64"},
      {"x: 1\ny: 2\n", "is not a value of type f64"},
      {"x = 1\ny = 2\n", "is not a value of type f64"},
      {"1,a\n2,b\n", "'a' is not a value of type f64"}};
  for (const auto& [text, says] : cases) {
    const Refusal refused = refusal_of_text(text, table_of(Scalar::f64));
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << text;
    EXPECT_GE(refused.line, 1) << text << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says)) << text;
  }
  EXPECT_THAT(refusal_of_text("1,tcp\n2,udp\n", table_of(Scalar::f64)).text,
              HasSubstr("if column 2 holds words, say so: --words INPUT=2"));
  EXPECT_EQ(refusal_of_text("1,2\n3,4\n5,6\n7,8,\n", table_of(Scalar::f64)).line, 4);
}

TEST(Words, HaveTheCodesOfTheDictionaryNotOfTheRows) {
  const ReadOptions options = with_words({2, 3});
  const RawTable t = words_of_text("1,tcp,\"a, \"\"b\"\"\"\n2,udp,c\n3,tcp,c\n", options);
  EXPECT_THAT(numbers_of(t), ElementsAre(1, 0, 0, 2, 1, 1, 3, 0, 1));
  EXPECT_THAT(t.dictionaries.at(2).words, ElementsAre("tcp", "udp"));
  EXPECT_THAT(t.dictionaries.at(3).words, ElementsAre("a, \"b\"", "c"));
  const RawTable turned = words_of_text("3,udp,c\n2,tcp,c\n1,tcp,\"a, \"\"b\"\"\"\n", options);
  EXPECT_EQ(turned.dictionaries, t.dictionaries);
  EXPECT_THAT(numbers_of(turned), ElementsAre(3, 1, 1, 2, 0, 1, 1, 0, 0));
}

// As text they are the same; what looks like a number is a word where words are wanted.
TEST(Words, AreWhatTheFileMeans) {
  EXPECT_THAT(words_of_text("1,\"x\"\n2,x\n3,\" x\"\n4,10\n5,1e1\n6,\"\"\n", with_words({2})).dictionaries.at(2).words,
              ElementsAre("", " x", "10", "1e1", "x"));
  EXPECT_THAT(words_of_text("a\"\"b,1\n\"a\"\"b\",2\n", with_words({1})).dictionaries.at(1).words,
              ElementsAre("a\"\"b", "a\"b"));
  EXPECT_THAT(refusal_of_text("1,x\n2,\n", with_words({2})).text, HasSubstr("a cell is missing"));
}

TEST(Words, CodesAgreeOverThePiecesOfALargeFile) {
  std::string text;
  for (int i = 0; i < 400000; ++i) text += "word" + std::to_string(1000 + (i % 1000 * 919) % 1000) + ",1234567890\n";
  const RawTable t = words_of_text(text, with_words({1}, Scalar::i64));
  ASSERT_EQ(t.rows, 400000);
  ASSERT_EQ(t.dictionaries.at(1).words.size(), 1000U);
  for (int i = 0; i < 400000; ++i) ASSERT_EQ(t.values.as<std::int64_t>()[2 * i], i % 1000 * 919 % 1000);
}

TEST(Words, HaveTheCodesOfAnotherFile) {
  const RawTable model = words_of_text("id,kind,size\n1,oak,2\n2,ash,3\n3,elm,4\n", with_words({ColumnChoice("kind")}));
  EXPECT_EQ(model.dictionaries.at(2).name, "kind");
  ReadOptions options = with_words({ColumnChoice("kind")});
  options.dictionary = &model.dictionaries;
  options.dictionary_name = "model.json";
  const RawTable other = words_of_text("kind,id\noak,7\nelm,8\n", options);  // the columns stand in another order
  EXPECT_THAT(numbers_of(other), ElementsAre(2, 7, 1, 8));
  EXPECT_EQ(other.dictionaries.at(1), model.dictionaries.at(2)) << "of all its words";
  options.words = {2};
  EXPECT_THAT(numbers_of(words_of_text("7,oak\n8,elm\n", options)), ElementsAre(7, 2, 8, 1))
      << "by place without names";
  const Refusal unknown = refusal_of_text("7,oak\n8,elms\n", options);
  EXPECT_EQ(unknown.status, ExitStatus::bad_input);
  EXPECT_EQ(unknown.line, 2);
  EXPECT_EQ(unknown.column, 3);
  EXPECT_THAT(unknown.text, HasSubstr("'elms' is no word of the dictionary 'model.json'; did you mean 'elm'?"));
  options.words = {1};
  EXPECT_THAT(refusal_of_text("oak,7\n", options).text,
              HasSubstr("the dictionary 'model.json' has no column 1; it has kind"));
  EXPECT_THAT(refusal_of_text("size,kind\noak,7\n", options).text, HasSubstr("has no column size"));
}

TEST(Words, AreNotMoreThanTheTypeTellsApart) {
  EXPECT_THAT(numbers_of(words_of_text("no\nyes\nno\n", with_words({1}, Scalar::boolean))), ElementsAre(0, 1, 0));
  EXPECT_THAT(refusal_of_text("no\nyes\nperhaps\n", with_words({1}, Scalar::boolean)).text,
              HasSubstr("column 1 has 3 different words, too many for bool"));
}

TEST(Words, AreText) {
  const ReadOptions options = with_words({1}, Scalar::i64);
  EXPECT_EQ(words_of_text("M\xC3\xBCller\n\"\xE2\x82\xAC\t\xF0\x9F\x98\x80\"\n", options).rows, 2);
  const std::string_view wrong[] = {{"M\xFCller", 7}, {"a\0b", 3},     {"\0\0\0", 3},       {"\x1F\x8B\x08", 3},
                                    {"\xC3", 1},      {"\xC0\xAF", 2}, {"\xED\xA0\x80", 3}, {"\xF4\x90\x80\x80", 4},
                                    {"\xE2\x82z", 3}, {"\x7F", 1}};
  for (const std::string_view word : wrong) {
    const Refusal refused = refusal_of_text("a\nb\n" + std::string(word) + "\nc\n", options);
    EXPECT_EQ(refused.status, ExitStatus::bad_input);
    EXPECT_EQ(refused.line, 3) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr("no text in UTF-8"));
    EXPECT_EQ(refusal_of_text(std::string(word) + "\n", options).status, ExitStatus::bad_input);
  }
}

TEST(Words, ManyColumnsTakeTimeInProportion) {
  std::string names = "w0", row = "a0";
  constexpr int columns = 60000;
  for (int c = 1; c < columns; ++c) {
    names += ",w" + std::to_string(c);
    row += ",a" + std::to_string(c);
  }
  const std::string text = names + '\n' + row + '\n' + row + '\n';
  const RawTable t = words_of_text(text, with_words({ColumnChoice("w0"), {2, 0}}));
  EXPECT_EQ(t.dictionaries.size(), static_cast<size_t>(columns));
  ReadOptions again = with_words({{1, 0}});
  again.dictionary = &t.dictionaries;
  EXPECT_EQ(words_of_text(text.substr(names.size() + 1), again).dictionaries.at(columns).words,
            std::vector<std::string>{"a59999"});
}

TEST(Dictionary, ReadsBack) {
  const Folder folder;
  const Dictionary all{{"X", {{2, {"kind", {"a", "\xC3\xA4 \"b\"", ""}}}, {7, {"", {"x"}}}}}, {"y", {{1, {"", {}}}}}};
  const std::string text = dictionary_text(all);
  EXPECT_EQ(read_dictionary(folder.write("d.json", text)), all);
  EXPECT_EQ(read_dictionary(folder.write("d.json.gz", text)), all);
  EXPECT_EQ(read_dictionary(folder.write("empty.json", dictionary_text({}))), Dictionary());
  EXPECT_EQ(read_dim_names(folder.write("d.json", text)), DimNames());
  const DimNames names{{"F", {"age", "\xC3\xA4 \"b\"", "age"}}, {"K", {"x"}}};
  EXPECT_EQ(read_dim_names(folder.write("names.json", dictionary_text(all, names))), names);
  EXPECT_EQ(read_dictionary(folder.write("names.json", dictionary_text(all, names))), all);
  EXPECT_TRUE(dictionary_text(all, names).starts_with(dictionary_begin));
}

TEST(Dictionary, RefusesNames) {
  const Folder folder;
  for (const char* names : {"3", "[]", R"({"F": 3})", R"({"F": [3]})", R"({"F": [""]})", R"({"F": ["a\u001bb"]})",
                            R"({"F": ["a\nb"]})", R"({"F": [["a"]]})"}) {
    const std::string text = R"({"kasen_dictionary": 1, "inputs": {}, "names": )" + std::string(names) + "}";
    EXPECT_THROW((void)read_dim_names(folder.write("d.json", text)), UserError) << names;
    EXPECT_EQ(read_dictionary(folder.write("d.json", text)), Dictionary());
  }
  for (const char* name : {"", "a\x1b", "a\x7f", "\xff", "a\nb"}) EXPECT_FALSE(is_shown_name(name)) << name;
}

TEST(Dictionary, Refuses) {
  const Folder folder;
  const std::tuple<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "not JSON"},
      {"{}", "has no 'kasen_dictionary'"},
      {R"({"kasen_dictionary": 2, "inputs": {}})", "its version"},
      {R"({"kasen_dictionary": 1, "inputs": []})", "no object"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": 3}})", "not by column"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1}]}})", "no 'column' or 'words'"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [3]}})", "no 'column' or 'words'"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 0, "words": []}]}})", "from 1 on"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": -1, "words": []}]}})", "from 1 on"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1e300, "words": []}]}})", "from 1 on"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1, "words": [1]}]}})", "no list of texts"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1, "words": ["a", "a"]}]}})", "'a' stands twice"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1, "words": []}, {"column": 1, "words": []}]}})",
       "twice"},
      {R"({"kasen_dictionary": 1, "inputs": {"X": [{"column": 1, "name": 2, "words": []}]}})", "is no text"}};
  for (const auto& [text, says] : cases) {
    try {
      (void)read_dictionary(folder.write("d.json", text));
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_THAT(error.what(), HasSubstr(says)) << text;
      EXPECT_THAT(error.what(), HasSubstr("d.json: error: "));
    }
  }
  EXPECT_THROW((void)read_dictionary(folder.file("absent")), UserError);
  const std::string deep = R"({"kasen_dictionary": 1, "inputs": )" + std::string(1000000, '[');
  EXPECT_THROW((void)read_dictionary(folder.write("deep.json", deep)), UserError);
}

}  // namespace
}  // namespace kasen
