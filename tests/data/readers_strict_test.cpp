// What looks like data and is not quite: separators that change, carriage returns, values that a header excludes,
// headers with more in them, lines without end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "libcomm/data/text/text_source.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Refusal refused(const std::string& text, const ReadOptions& options, const std::string& name = "t.txt") {
  const Folder folder;
  const std::string path = folder.write(name, text);
  return options.sparse ? matrix_refusal(path, options) : table_refusal(path, options);
}

// ",25" is a quarter to many.
TEST(Separators, AreThoseOfTheFirstLine) {
  const ReadOptions f64 = matrix_of(Scalar::f64), pattern = matrix_of(Scalar::null);
  struct Case {
    const char* text;
    ReadOptions options;
    int line;
  };
  for (const Case& c :
       {Case{"0 1 2.5\n1 2 ,25\n", f64, 2}, Case{"0 1 ,25\n1 2 3\n", f64, 1}, Case{"0 1 2,5\n1 2 3,5\n", f64, 1},
        Case{"0,1,2.5\n1,2 3\n", f64, 2}, Case{"0,1\n1 2\n", pattern, 2}, Case{"0 1\n1,2\n", pattern, 2},
        Case{"0;1\n1,2\n", pattern, 2}, Case{"0,1\n1,,2\n", pattern, 2}, Case{"0,1\n,1,2\n", pattern, 2},
        Case{"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 ,25\n", f64, 3},
        Case{"%%MatrixMarket matrix coordinate real general\n2 2 1\n1,1 25\n", f64, 3}}) {
    const Refusal refusal = refused(c.text, c.options);
    EXPECT_EQ(refusal.status, ExitStatus::bad_input) << c.text;
    EXPECT_EQ(refusal.line, c.line) << c.text << refusal.text;
  }
  // Text that nobody takes may have blanks and commas of its own.
  ReadOptions chosen = f64;
  chosen.columns = {1, 3, 4};
  const Folder folder;
  for (const char* text : {"0,John Smith,1,5\n2,x,3,6\n", "0 a,b 1 5\n2 x 3 6\n", "0\tJohn Smith\t1\t5\n2\t\t3\t6\n"})
    EXPECT_THAT(entries_of(read_matrix(folder.write("e.txt", text), chosen)),
                ElementsAre(Entry{0, 1, 5}, Entry{2, 3, 6}))
        << text;
  EXPECT_EQ(refused("0,1,5 x,1\n2,3,6,1\n",
                    [&] {
                      ReadOptions three = f64;
                      three.columns = {1, 2, 3};
                      return three;
                    }())
                .line,
            1);
}

TEST(Libsvm, ALabelIsOneNumber) {
  for (const char* text : {"1 1:2\n1,5 1:2\n", "1 1:2\n1;5 1:2\n"}) {
    const Refusal refusal = refused(text, table_of(Scalar::f64), "t.svm");
    EXPECT_EQ(refusal.line, 2) << refusal.text;
    EXPECT_THAT(refusal.text, HasSubstr("is not a label; a label is one number"));
  }
}

TEST(MatrixMarket, IntegersAreWhole) {
  const std::string sparse = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3.0\n2 2 ",
                    dense = "%%MatrixMarket matrix array integer general\n2 1\n3\n";
  for (const char* value : {"1.5", "nan", "inf", "1e-3"})
    for (const Scalar scalar : {Scalar::f64, Scalar::f32, Scalar::i64}) {
      EXPECT_THAT(refused(sparse + value + "\n", matrix_of(scalar)).text, HasSubstr("not an integer")) << value;
      EXPECT_THAT(refused(dense + value + "\n", table_of(scalar)).text, HasSubstr("not an integer")) << value;
    }
  const Folder folder;
  EXPECT_THAT(entries_of(read_matrix(folder.write("a.mtx", sparse + "1e3\n"), matrix_of(Scalar::f64))),
              ElementsAre(Entry{0, 0, 3}, Entry{1, 1, 1000}));
}

// In every place of every format of text; a line end of both is as good as one of a line feed.
TEST(CarriageReturn, AloneIsNoBlank) {
  const std::pair<std::string, ReadOptions> texts[] = {
      {"# c\n0 1\n2 3\n", matrix_of(Scalar::null)},
      {"0,1,2\n2,3,4\n", matrix_of(Scalar::f64)},
      {"%%MatrixMarket matrix coordinate real general\n% c\n2 2 1\n1 1 5\n", matrix_of(Scalar::f64)},
      {"%%MatrixMarket matrix array real general\n1 1\n5\n", table_of(Scalar::f64)},
      {"1 1:2 2:3\n-1 2:1\n", matrix_of(Scalar::f64)},
      {"a,b\n1,2\n3,4\n", table_of(Scalar::f64)}};
  for (const auto& [text, options] : texts) {
    std::string ended;
    for (const char c : text) ended += c == '\n' ? "\r\n" : std::string(1, c);
    EXPECT_EQ(refused(ended, options).status, ExitStatus::done) << refused(ended, options).text;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') continue;  // before it, it belongs to the line end
      std::string damaged = text;
      damaged.insert(at, "\r");
      const Refusal refusal = refused(damaged, options);
      EXPECT_EQ(refusal.status, ExitStatus::bad_input) << at << ' ' << text;
    }
    std::string comment = text;
    comment.insert(comment.find('\n') + 1, "# x\r1 2\n");
    EXPECT_THAT(refused(comment, options).text,
                HasSubstr("a carriage return stands within the line; a line feed ends lines"));
  }
}

std::string npy(const std::string& dictionary, char version = 1, char minor = 0) {
  std::string header = dictionary + "\n";
  return std::string("\x93NUMPY") + version + minor + static_cast<char>(header.size() & 255U) +
         static_cast<char>(header.size() >> 8U) + header + std::string(16, '\0');
}

// The forms that NumPy reads as well, and those that it does not.
TEST(Npy, HeadersAreOneDictionary) {
  const ReadOptions f64 = table_of(Scalar::f64);
  for (const char* good : {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}   ",
                           "{\"shape\":(2,),\"descr\":\"<f8\",\"fortran_order\":True}",
                           "{ 'descr' : '=f8' ,\n'fortran_order':False,'shape':(1,2)}",
                           "{'descr': 'f8', 'fortran_order': False, 'shape': (2, 1,), }"})
    EXPECT_EQ(refused(npy(good), f64, "a.npy").status, ExitStatus::done)
        << good << refused(npy(good), f64, "a.npy").text;
  const std::string head = "{'descr': '<f8', 'fortran_order': False, ";
  for (const std::string& bad : {head + "'shape': (2,), }x",
                                 head + "'shape': (2,), } {}",
                                 head + "'shape': (2,), }}",
                                 head + "'shape': (2,), }#",
                                 head + "'shape': (2,), 'x': 1}",
                                 head + "'shape': (2,), 'shape': (2,)}",
                                 head + "'shape': (2)}",
                                 head + "'shape': (,)}",
                                 head + "'shape': (2 1)}",
                                 head + "'shape': (02,)}",
                                 head + "'shape': (2,,)}",
                                 head + "'shape': [2]}",
                                 head + "'shape': (2,)",
                                 head + "'shape': (2.0,)}",
                                 head + "'shape': (-2,)}",
                                 head + "'shape': (-0,)}",
                                 head + "shape: (2,)}",
                                 head + "}",
                                 "x" + head + "'shape': (2,)}",
                                 head + "'shape': (2,) 'x'}",
                                 std::string("{'descr': '<>f8', 'fortran_order': False, 'shape': (2,)}"),
                                 std::string("{'descr': '<f8', 'fortran_order': Falsey, 'shape': (2,)}"),
                                 std::string("{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}"),
                                 std::string("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}"),
                                 std::string("{,'descr': '<f8', 'fortran_order': False, 'shape': (2,)}"),
                                 std::string("({'descr': '<f8', 'fortran_order': False, 'shape': (2,)})"),
                                 head + "'shape': (2,)}" + std::string(20000, ' ')}) {
    const Refusal refusal = refused(npy(bad), f64, "a.npy");
    EXPECT_EQ(refusal.status, ExitStatus::bad_input) << bad;
    EXPECT_THAT(refusal.text, HasSubstr("not a .npy file that can be read")) << bad;
  }
  EXPECT_THAT(refused(npy(head + "'shape': (2,)}", 1, 1), f64, "a.npy").text, HasSubstr("its version is 1.1"));
}

// Told before it is held: a pipe or a small packed file may have no end of it.
TEST(LongLines, AreRefused) {
  const std::string zeros(static_cast<size_t>(longest_line) + 1000, '\0');
  const std::string packed = gzip("# c\n" + zeros), plain = "1 2\n" + std::string(zeros.size(), ' ');
  for (const ReadOptions& options : {matrix_of(Scalar::null), table_of(Scalar::f64)}) {
    const Refusal refusal = refused(packed, options);
    EXPECT_EQ(refusal.status, ExitStatus::bad_input);
    EXPECT_EQ(refusal.line, 2) << refusal.text;
    EXPECT_THAT(refusal.text, HasSubstr("the line is longer than 67108864 bytes"));
    EXPECT_THAT(refused(plain, options).text, HasSubstr("t.txt:2: error: the line is longer"));
  }
}

// Also where they do not follow one another, in files of any number of blocks.
TEST(Repeats, OfFewEdgesTakeNoMemory) {
  const Folder folder;
  for (const int edges : {1, 2, 1000}) {
    std::string text;
    for (int i = 0; i < 600000; ++i) text += std::to_string(i % edges) + " 8\n";
    const RawMatrix m = read_matrix(folder.write("e.txt", "5 4\n" + text + "5 4\n"), matrix_of(Scalar::null));
    EXPECT_EQ(m.entries.count(), edges + 1);
    EXPECT_EQ(m.entries.rows()[0], 0);
  }
}

}  // namespace
}  // namespace kasen
