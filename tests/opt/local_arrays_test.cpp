// Arrays of local dimensions are shareds: functions of them, reductions and mixtures with distributed arrays.
#include <gtest/gtest.h>

#include "libopt/cost/footprint.h"
#include "libopt/report/explain.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

void run_like_program(const Module& program) {
  for (const int workers : {1, 3}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 20, 0, 3));
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
        const Module module = plan(program, strategy, sync);
        const RunResult result = testing::run_simulated(module, parts);
        for (const Output& output : result.outputs) {
          testing::expect_same(output.name, output.type.element, testing::whole_words(module, output, parts),
                               testing::words_of(wanted.at(output.name)), 1e-12);
        }
      }
    }
  }
}

TEST(LocalArrays, RunLikeTheirProgram) {
  run_like_program(
      compile("dim K local = 3\ndim N\ninput c : f64[K]\ninput D : f64[N, K]\ninput x : f64[N]\n"
              "d = c * 2.0 + 1.0\nE = D * d + x\ns = sum(E)\nt = sum(d) * 0.5\nr = D @ d\nq = D' @ x\nu = q / c + t\n"
              "output d, E, s, t, r, q, u"));
}

// x is held by every worker for S, and so are X and Y: each multiplies with the rows that it owns all the same.
TEST(LocalArrays, MatricesThatWorkersHoldAreMultipliedOnce) {
  run_like_program(compile(
      "dim N\ndim F local = 2, K local = 3\ninput x : f64[N]\nS = x - fill(3.0, N, N)\nX = fill(0.5, N, F) + x\n"
      "Y = fill(0.75, N, K) * x\nP = X' @ Y\nq = X' @ x\nr = Y @ (Y' @ x)\noutput S, P, q, r"));
}

// Every worker touches all of each, 8 bytes an element: w, u and h have 10 elements, C has 30, D has 3. The exchange of
// g works in place. The paper's column charges nothing.
TEST(LocalArrays, CostWhatEveryWorkerTouches) {
  const Module program = compile(
      "dim N\ndim F local = 10\ndim K local = 3\ninput X : f64[N, F]\ninput v : f64[F]\ninput B : f64[F, K]\n"
      "w = v * 2.0 + 1.0\nu = w * v\nt = sum(u)\nC = B * t\nD = range(w, K)\ng = X' @ (X @ w)\nh = g - u\n"
      "output t, C, D, h");
  const Module module = plan(program, Strategy::none, SyncMode::hybrid);
  const CostReport report = measure(module);
  const SymbolNames names(module);
  // v, then w and v, u, B, a part of w, w (beside X), g and u; X twice and X w once.
  EXPECT_EQ(report.actual.read.text(names), "168 N + 824 P");
  EXPECT_EQ(report.actual.written.text(names), "8 N + 584 P");  // X w; w, u, C, D, g, h
  EXPECT_EQ(report.model.read.text(names), "480 N");
  // X w; w (also g and h), u, C and D on each worker.
  EXPECT_EQ(footprint(module).buffers.text(names), "8 N + 424 P");
  EXPECT_EQ(footprint(module).inputs.text(names), "80 N + 320 P");
  TrialLawChecker laws;
  const std::string why = explain_text(module, nullptr, nullptr, {}, laws);
  EXPECT_NE(why.find("map[f_w] at line 7: every worker makes w for itself, once; 160 P bytes"), std::string::npos);
  EXPECT_EQ(why.find("every worker makes g"), std::string::npos) << "the rows of X are shared out";
  for (const int workers : {1, 3}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 20, 0, 3));
    run_plan(module, parts, interpret(program, whole_inputs(parts)), true);
  }
}

// The old w dies in the loop over N that sums the new one, and is read until its end.
TEST(LocalArrays, SumsHaveOtherBuffersThanWhatTheirLoopReads) {
  run_everywhere(
      compile("dim N\ndim F local = 7\ninput X : f64[N, F]\nw : f64[F] = 0.5\n"
              "for turn in 0..3 {\n  w = sum(X * w, over N) * 0.125\n}\nv = sum(X * w, over N)\noutput w, v"),
      9, 30);
}

}  // namespace
}  // namespace kasen
