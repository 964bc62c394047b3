// Arrays of local dimensions are shareds: functions of them, reductions and mixtures with distributed arrays.
#include <gtest/gtest.h>

#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {
namespace {

TEST(LocalArrays, RunLikeTheirProgram) {
  const Module program = compile(
      "dim K local = 3\ndim N\ninput c : f64[K]\ninput D : f64[N, K]\ninput x : f64[N]\n"
      "d = c * 2.0 + 1.0\nE = D * d + x\ns = sum(E)\nt = sum(d) * 0.5\nr = D @ d\nq = D' @ x\nu = q / c + t\n"
      "output d, E, s, t, r, q, u");
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

}  // namespace
}  // namespace kasen
