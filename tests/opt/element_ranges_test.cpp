// Reducers whose laws hold of some numbers alone: the ranges of what reaches them are found in the program, declared in
// the IR and checked there.
#include <gtest/gtest.h>

#include <cmath>

#include "libcore/scalar/element_range.h"
#include "libopt/prover/prover.h"
#include "libopt/prover/verdicts.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {
namespace {

// Welford's merge of (count, mean, sum of squared differences): right where counts are positive. Its identity is (0, 0,
// 0).
const std::string guarded = R"(
fn merge(a, b) {
  n = a.0 + b.0
  d = b.1 - a.1
  w = if n > 0 then b.0 / n else 0
  (n, a.1 + d * w, a.2 + b.2 + d ^ 2 * a.0 * w)
}
)";
const std::string of_numbers = "dim N\ninput x : f64[N]\n";
const std::string one_each = "s = reduce(merge, map(v -> (1.0, v, 0.0), x))\n";
const std::string results = "output count = s.0, mean = s.1, variance = s.2 / s.0\n";

std::string first_fault(const std::string& text) {
  try {
    const Module module = compile(text);
    Prover laws;
    const std::vector<Diagnostic> found = verify_module(module, laws);
    return found.empty() ? "" : format_diagnostic(found[0]);
  } catch (const UserError& error) {
    return error.what();
  }
}

void expect_variance(const std::string& text) {
  Module program = compile(text);
  Prover laws;
  require_valid(program, laws);
  record_reducer_laws(program, laws);
  EXPECT_EQ(print_module(parse_module(print_module(program), "welford.kir")), print_module(program));
  for (const int workers : {1, 2, 3, 5}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 11, 0, 7));
    const std::vector<Word> x = testing::words_of(whole_inputs(parts).arrays.at("x"));
    double sum = 0, squares = 0;
    for (const Word& word : x) sum += word.f;
    const double count = static_cast<double>(x.size()), mean = sum / count;
    for (const Word& word : x) squares += (word.f - mean) * (word.f - mean);
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {
      const Module module = plan(program, Strategy::greedy, sync);
      require_valid(module, laws);
      const RunResult result = testing::run_simulated(module, parts);
      std::map<std::string, double> found;
      for (const Output& output : result.outputs) {
        const Word word = testing::whole_words(module, output, parts).at(0);
        found[output.name] = is_float(output.type.element.scalar()) ? word.f : static_cast<double>(word.i);
      }
      EXPECT_EQ(found.at("count"), count);
      EXPECT_NEAR(found.at("mean"), mean, 1e-12 * std::fabs(mean));
      EXPECT_NEAR(found.at("variance"), squares / count, 1e-12 * squares / count) << workers << " workers";
    }
  }
}

TEST(ElementRanges, WelfordsMergeIsTheTwoPassVariance) {
  expect_variance(of_numbers + guarded + one_each + results);
  expect_variance(of_numbers + guarded + "s = reduce(merge, map(v -> (f64(1), v, 0.0), x))\n" + results);
}

TEST(ElementRanges, TheUsersWordIsTakenInTheRange) {
  expect_variance(of_numbers + guarded + one_each + "assume associative(merge), commutative(merge)\n" + results);
}

TEST(ElementRanges, OfInputsAreStated) {
  const std::string head = "dim N\ninput x : f64[N], c : f64[N]\n" + guarded;
  const std::string tail = "s = reduce(merge, map((c, v) -> (c, v, 0.0), c, x))\n" + results;
  EXPECT_NE(first_fault(head + tail).find("'merge' cannot reduce: it is not "), std::string::npos)
      << first_fault(head + tail);
  EXPECT_EQ(first_fault(head + "assume c > 0\n" + tail), "");
  const std::string tuples = "dim N\ninput s : (f64, f64, f64)[N]\n" + guarded;
  EXPECT_EQ(first_fault(tuples + "assume s.0 > 0\noutput r = reduce(merge, s)\n"), "");
  EXPECT_NE(first_fault(tuples + "assume s.1 > 0\noutput r = reduce(merge, s)\n"), "");
  const std::string points =
      "dim N\ninput s : [f64; 3][N]\n"
      "fn join(a, b) = [a[0] + b[0], a[1] + (b[1] - a[1]) * share(a[0], b[0]), a[2] + b[2]]\n"
      "fn share(a, b) = if a + b > 0 then b / (a + b) else 0\n";
  EXPECT_EQ(first_fault(points + "assume s[0] > 0\noutput r = reduce(join, s)\n"), "");
  EXPECT_NE(first_fault(points + "assume s[1] > 0\noutput r = reduce(join, s)\n"), "");
}

// In the range, too: then a counterexample is one that the program can meet.
TEST(ElementRanges, WhatIsWrongInTheRangeIsRefusedThere) {
  const std::string text = of_numbers +
                           "fn bad(a, b) = (a.0 + b.0, (a.1 + b.1) / (a.0 + b.0))\n"
                           "s = reduce(bad, map(v -> (1.0, v), x))\noutput s\n";
  const std::string fault = first_fault(text);
  EXPECT_NE(fault.find("'bad' cannot reduce: it is not associative"), std::string::npos) << fault;
  EXPECT_EQ(fault.find("(-"), std::string::npos) << fault;  // no count below zero
}

TEST(ElementRanges, ReducersOfAllNumbersDeclareNone) {
  const Module module = compile(of_numbers +
                                "fn add_both(a, b) = (a.0 + b.0, a.1 * b.1)\n"
                                "s = reduce(add_both, map(v -> (1.0, v), x))\noutput s\n");
  for (const ScalarFunction& fn : module.functions) EXPECT_FALSE(declares_range(fn)) << fn.name;
}

TEST(ElementRanges, OnlyWhatTheLawNeedsIsDeclared) {
  const Module module = compile(of_numbers + guarded + one_each + results);
  const std::string text = print_module(module);
  EXPECT_NE(text.find("fn merge(a: (f64, f64, f64) at 0 > 0.0, b: (f64, f64, f64) at 0 > 0.0)"), std::string::npos)
      << text;
}

// ---- in the IR: every use keeps what the reducer declares

std::string fault_of_ir(const std::string& range, const std::string& count) {
  const Module m = parse_module(
      "kir 1 level 1\nmodule m {\n dim N\n"
      " fn mean(a: (f64, f64)" +
          range + ", b: (f64, f64)" + range +
          ") -> (f64, f64) = tuple(a.0 + b.0, a.1 + (b.1 - a.1) * (if a.0 + b.0 > 0.0 then b.0 / (a.0 + b.0) else "
          "0.0))\n"
          " fn pair(v: f64) -> (f64, f64) = tuple(" +
          count +
          ", v)\n"
          " %x = input \"x\" : f64[N] @?\n"
          " %p = map[pair] %x : (f64, f64)[N] @?\n"
          " %s = reduce[mean] %p : (f64, f64) @?\n"
          " output \"s\" %s\n}\n##end\n",
      "ranges.kir");
  Prover laws;
  const std::vector<Diagnostic> found = verify_module(m, laws);
  return found.empty() ? "" : found[0].what + "; " + found[0].why;
}

TEST(ElementRanges, EveryUseKeepsThem) {
  EXPECT_NE(fault_of_ir("", "1.0").find("cannot reduce"), std::string::npos);
  EXPECT_NE(fault_of_ir(" at 0 > 0.0", "v").find("mean takes a.0 > 0.0; nothing is known of its operands"),
            std::string::npos)
      << fault_of_ir(" at 0 > 0.0", "v");
  EXPECT_NE(fault_of_ir(" at 0 >= 1.0 <= 2.0", "1.0").find("the range of mean of two elements in its range is"),
            std::string::npos)
      << fault_of_ir(" at 0 >= 1.0 <= 2.0", "1.0");
  EXPECT_THROW((void)fault_of_ir(" at 2 > 0.0", "1.0"), UserError);
}

}  // namespace
}  // namespace kasen
