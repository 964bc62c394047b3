// Programs of several files, and the libraries.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"
#include "tests/core/run_program.h"
#include "tests/support/module_shape.h"

namespace kasen::used_files {
namespace {

using Files = std::map<std::string, std::string>;

ReadFile reader(const Files& files, std::vector<std::string>* read = nullptr) {
  return [&files, read](const std::string& path) {
    if (read != nullptr) read->push_back(path);
    const auto found = files.find(path);
    if (found == files.end()) fail(ExitStatus::missing_input, "cannot open '" + path + "'", "no such file");
    return found->second;
  };
}

std::vector<Diagnostic> faults(const std::string& text, const Files& files) {
  try {
    (void)compile_program(text, "dir/test.ks", {}, reader(files));
  } catch (const UserError& error) {
    return error.diagnostics();
  }
  return {};
}

double result(const std::string& text, const Files& files) {
  const Module module = compile_program(text, "dir/test.ks", {}, reader(files));
  return meaning::real(interpret(module, {}), "z");
}

const std::string use = "use \"lib.ks\"\ndim F local = 2\na = fill(3.0, F)\n";

TEST(LangUse, AUsedFileGivesItsFunctions) {
  const Files files{{"dir/lib.ks", "fn half(x) = x / 2\ndef total(x, over d) = sum(half(x), over d)\n"}};
  EXPECT_EQ(result(use + "output z = total(a)\n", files), 3);
  EXPECT_EQ(result(use + "output z = sum(map(half, a))\n", files), 3);
}

TEST(LangUse, APlanSaysAllThatItIsMadeFrom) {
  const Files files{{"dir/lib.ks", "def total(x) = sum(x) # no line end"},
                    {"dir/other.ks", "def total(x) = 2 * sum(x)\n"}};
  const std::string text = "use \"lib.ks\", \"stats\"\ndim F local = 2\na = fill(3.0, F)\noutput z = total(a) + var(a)";
  const Module module = compile_program(text, "dir/test.ks", {}, reader(files));
  const std::optional<Module> again = program_of(parse_module(print_module(module), "plan.kir"));
  ASSERT_TRUE(again);
  EXPECT_EQ(print_module(*again), print_module(module));
  EXPECT_EQ(whole_program(text, "dir/test.ks", reader(files)).find("def total(x) = sum(x) # no line end"),
            whole_program(text, "dir/test.ks", reader(files)).find("## file \"lib.ks\"\n") + 17);
  EXPECT_NE(whole_program(text, "dir/test.ks", reader(files)),
            whole_program(text, "dir/test.ks", reader({{"dir/lib.ks", "def total(x) = sum(x)"}})));
}

TEST(LangUse, EachFileIsReadOnceAndMayUseOthers) {
  const Files files{{"dir/lib.ks", "use \"sub/deep.ks\"\ndef f(x) = 10 * deep(x)\n"},
                    {"dir/sub/deep.ks", "use \"../lib.ks\", \"near.ks\", \"near.ks\"\ndef deep(x) = near(x) + 1\n"},
                    {"dir/sub/near.ks", "use \"near.ks\"\ndef near(x) = sum(x)\n"}};
  std::vector<std::string> read;
  const std::string text = use + "output z = f(a)\n";
  const Module module = compile_program(text, "dir/test.ks", {}, reader(files, &read));
  EXPECT_EQ(read, (std::vector<std::string>{"dir/lib.ks", "dir/sub/deep.ks", "dir/sub/near.ks"}));
  EXPECT_EQ(meaning::real(interpret(module, {}), "z"), 70);
}

// Functions of a used file see those of their own file, whatever the program has.
TEST(LangUse, AFunctionOfTheProgramHidesAUsedOne) {
  const Files files{
      {"dir/lib.ks", "fn half(x) = x / 2\ndef f(x) = g(x)\ndef g(x) = sum(half(x))\ndef mean(x) = 100\n"}};
  EXPECT_EQ(result(use + "fn half(x) = 7 * x\ndef g(x) = 1000 * sum(x)\noutput z = f(a) + g(a)\n", files), 6003);
  EXPECT_EQ(result(use + "output z = f(a) + mean(a)\n", files), 103);
}

// A reducer of a used file is another one than the program's reducer of that name.
TEST(LangUse, AssumptionsAreAboutTheProgramsOwnFunctions) {
  const Files files{{"dir/lib.ks", "fn join(x, y) = x + y + 3\ndef all_of(x) = reduce(join, x)\n"}};
  const std::string text =
      use + "fn join(x, y) = x * y\nassume associative(join)\nb = reduce(join, a)\noutput z = all_of(a) * 100 + b\n";
  EXPECT_EQ(result(text, files), 909);
}

struct Fault {
  std::string text, lib;
  std::string file;
  int line, column;
  std::string what, rest;  // parts of the message
};

const std::vector<Fault> cases{
    {"use \"none.ks\"\noutput z = 1", "", "dir/test.ks", 1, 5, "cannot open 'dir/none.ks'", "no such file"},
    {"use \"state\"\noutput z = 1", "", "dir/test.ks", 1, 5, "there is no library 'state'", "use \"state.ks\""},
    {"output z = rms(2.0)", "", "dir/test.ks", 1, 12, "mean of a single value", "in def 'rms', at <stats>:28:34"},
    {"dim N, F\ninput X : f64[N, F]\noutput z = median(X, over N)", "", "dir/test.ks", 3, 12,
     "a sparse matrix over [N, F]", "in def 'median', at <order>:6:12"},
    {"dim N\ninput x : i64[N]\ny = if x > 0 then 1 else 0\noutput z = skewness(x > 0)", "", "dir/test.ks", 4, 12, "'/'",
     "in def 'skewness', at <stats>:"},
    {"use \"lib.ks\"\noutput z = f(2.0)", "\ndef f(x) = rms(x)\n", "dir/lib.ks", 2, 12, "mean of a single value",
     "in def 'rms', at <stats>:28:34; in def 'f', called at dir/test.ks:2:12"},
    {"use lib\noutput z = 1", "", "dir/test.ks", 1, 5, "'lib' is not expected here", "use \"file.ks\""},
    {"use \"a\\\\b.ks\"\noutput z = 1", "", "dir/test.ks", 1, 5, "this is no name of a file", "use \"file.ks\""},
    {"use \"lib.ks\noutput z = 1", "", "dir/test.ks", 1, 5, "a string without its closing quote", ""},
    {"if 1 > 0 { use \"lib.ks\" }\noutput z = 1", "", "dir/test.ks", 1, 12, "'use' inside a block",
     "out of the braces"},
    {"use \"lib.ks\"\noutput z = 1", "\ndef f(x) = x +\n", "dir/lib.ks", 3, 1, "is not expected here",
     "used at dir/test.ks:1:5"},
    {"use \"lib.ks\"\noutput z = 1", "const k = 2\n", "dir/lib.ks", 1, 7, "a used file holds functions alone",
     "in the program"},
    {"use \"lib.ks\"\noutput z = 1", "kir 1 level 1\n", "dir/test.ks", 1, 5, "'lib.ks' is not a file of functions",
     "fn and def"},
    {"use \"lib.ks\"\noutput z = 1", "## file \"a.ks\"\n", "dir/test.ks", 1, 5, "'lib.ks' is not a file of functions",
     "several files"},
    {"use \"lib.ks\"\nconst k = 2\noutput z = 1", "\n\ndef f(x) = x + k\n", "dir/lib.ks", 3, 16, "unknown name 'k'",
     ""},
    {"use \"lib.ks\"\nconst k = 2\noutput z = f(1)", "\n\nfn f(x) = x + k\n", "dir/lib.ks", 3, 15, "unknown name 'k'",
     "is used on line 3 of dir/test.ks"},
    {"use \"lib.ks\"\noutput z = f(1)", "\ndef f(x) = g(x)\ndef g(x) = sum(x)\n", "dir/lib.ks", 3, 16,
     "sum of a single value", "in def 'g', called at dir/lib.ks:2:12; in def 'f', called at dir/test.ks:2:12"},
    {"use \"lib.ks\", \"stats\"\noutput z = 1", "def var(x) = x\n", "dir/test.ks", 1, 15,
     "two used files have a function 'var'", "dir/lib.ks:1"},
    {"use \"lib.ks\"\noutput z = 1", "def sum(x) = x\n", "dir/lib.ks", 1, 5,
     "def 'sum' has the name of a built-in function", "my_sum"},
    {"use \"lib.ks\"\noutput z = 1", "def f(x) = x\nfn f(x) = x\n", "dir/lib.ks", 1, 5, "two functions are called 'f'",
     ""},
};

TEST(LangUse, FaultsAreToldInTheirFile) {
  for (const Fault& fault : cases) {
    const std::vector<Diagnostic> found = faults(fault.text + '\n', {{"dir/lib.ks", fault.lib}});
    ASSERT_FALSE(found.empty()) << fault.text;
    const Diagnostic& d = found[0];
    EXPECT_EQ(d.where, (Location{fault.file, fault.line, fault.column})) << format_diagnostic(d);
    EXPECT_NE(d.what.find(fault.what), std::string::npos) << format_diagnostic(d);
    EXPECT_NE((d.why + ' ' + d.remedy).find(fault.rest), std::string::npos) << format_diagnostic(d);
  }
}

// Names of the program come first, and what is built in; a library's own functions find each other.
TEST(LangUse, FunctionsOfLibrariesNeedNoUse) {
  const auto plan = [](const std::string& text) {
    return print_module(compile_program("dim N, F local\ninput x : f64[N], X : f64[N, F]\n" + text, "dir/test.ks", {}));
  };
  const auto body = [](const std::string& text) {  // without positions
    return std::regex_replace(text.substr(text.find("module")), std::regex(" at [0-9:]+"), "");
  };
  for (const std::string call : {"std(X, over F)", "median(x)", "clip(x, 0, 1)", "norm(x)"}) {
    const std::string library = call[0] == 's'   ? "stats"
                                : call[0] == 'm' ? "order"
                                : call[0] == 'c' ? "numpy"
                                                 : "linalg";
    EXPECT_EQ(body(plan("output z = " + call + "\n")),
              body(plan("use \"" + library + "\"; output z = " + call + "\n")));
  }
  EXPECT_NE(plan("def norm(a) = 7.0\noutput z = norm(x)\n").find("literal 7.0"), std::string::npos);
  EXPECT_EQ(plan("output z = sum(x)\n").find("## file"), std::string::npos);
  EXPECT_EQ(body(plan("output z = zeros(N), y = full(2.5, N, F)\n")),
            body(plan("output z = zeros(over N), y = full(2.5, over N, F)\n")));
}

TEST(LangUse, ATextWithoutAFolderUsesLibrariesAlone) {
  EXPECT_NO_THROW((void)compile_program("use \"stats\"\ndim N\ninput x : f64[N]\noutput z = var(x)\n", "test.ks", {}));
  try {
    (void)compile_program("use \"lib.ks\"\noutput z = 1\n", "test.ks", {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot read 'lib.ks'"), std::string::npos);
  }
}

}  // namespace
}  // namespace kasen::used_files
