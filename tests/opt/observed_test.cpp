// What an earlier run counted, as numbers of a plan.
#include "libopt/time/observed.h"

#include <gtest/gtest.h>

#include "libcore/base/error.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

constexpr const char* halving = R"(dim N
dim K = 3
input G : f64[N, N], x : f64[N], A : dense f64[N, K]
d = sum(x)
while d > 1 {
  if d > 5 {
    x = 0.5 * (G @ x)
  } else {
    x = 0.25 * (G @ x)
  }
  d = sum(x)
}
output x, s = sum(A)
)";

Location at(int line, int column) { return {{}, line, column}; }

RunReport run_of(const Module& module) {
  RunReport run;
  run.program = module.name;
  run.source_digest = source_digest(module);
  run.workers = 4;
  run.control = {{SymbolKind::trips, at(5, 1), 2, 7}, {SymbolKind::taken, at(6, 3), 7, 3}};
  run.sizes = {{{SymbolKind::size, "N", {}, -1}, 5000},
               {{SymbolKind::size, "K", {}, -1}, 3},
               {{SymbolKind::entries, "G", {}, -1}, 77},
               {{SymbolKind::slaves, "N", {}, -1}, 9},
               {{SymbolKind::slaves, "N", {{"G", Axis::rows}}, -1}, 8}};
  return run;
}

using Texts = std::vector<std::string>;

TEST(Observed, NumbersStandForWhatIsNotKnown) {
  const Module program = compile(halving);
  RunReport run = run_of(program);
  Sizes sizes;
  EXPECT_EQ(add_observed(program, run, sizes),
            (Texts{"P = 4", "N = 5,000", "S = 9", "S(G.rows) = 8", "nnz = 77", "trips = 4", "then@6 = 0"}));
  EXPECT_EQ(sizes.origin, "an earlier run");
  Sizes given = parse_sizes(program, "P=8,N=6,trips=2");  // ghosts of four workers are not those of eight
  EXPECT_EQ(add_observed(program, run, given), (Texts{"nnz = 77", "then@6 = 0"}));
  EXPECT_EQ(given.totals.at({SymbolKind::size, "N", {}, -1}), 6);
}

TEST(Observed, LoopsOfOnePlaceCountTogether) {
  const Module program = compile(halving);
  RunReport run = run_of(program);
  run.sizes.clear();
  run.control = {{SymbolKind::trips, at(5, 1), 1, 0}, {SymbolKind::trips, at(5, 1), 3, 0}};
  Sizes sizes;
  EXPECT_EQ(add_observed(program, run, sizes), (Texts{"P = 4", "trips = 1"}));  // what is inside still has a price
  run.control[1].times = 40;
  sizes = {};
  EXPECT_EQ(add_observed(program, run, sizes), (Texts{"P = 4", "trips = 10"}));
  run.control = {
      {SymbolKind::trips, at(5, 1), 0, 0}, {SymbolKind::taken, at(6, 3), 2, 1}, {SymbolKind::taken, at(9, 3), 1, 0}};
  sizes = {};
  EXPECT_EQ(add_observed(program, run, sizes), (Texts{"P = 4", "then@6 = 1"}));
}

TEST(Observed, PlansOfTheProgramTakeThemToo) {
  const Module program = compile(halving);
  const Module made = plan(program, Strategy::greedy, SyncMode::hybrid);
  EXPECT_EQ(source_digest(made), source_digest(program));
  Sizes sizes;
  const Texts added = add_observed(made, run_of(program), sizes);
  EXPECT_EQ(added.back(), "then@6 = 0");
  EXPECT_TRUE(measure(made).actual.read.evaluate(sizes.totals).has_value());
}

std::string refused(const Module& module, const RunReport& run) {
  try {
    require_run_of(module, run, "run.json");
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    return error.what();
  }
  return {};
}

TEST(Observed, CountersOfAnotherProgramAreRefused) {
  const Module program = compile(halving);
  RunReport run = run_of(program);
  EXPECT_EQ(refused(program, run), "");
  EXPECT_NE(refused(compile(std::string(halving) + "\n"), run).find("another version of 'test'"), std::string::npos);
  run.program = "other";
  EXPECT_EQ(refused(program, run), "");  // the name is the file's
  run.source_digest = "0";
  EXPECT_NE(refused(program, run).find("the program 'other'"), std::string::npos);
  run.source_digest.clear();
  EXPECT_NE(refused(program, run).find("older version"), std::string::npos);
  Module bare = program;
  bare.source.clear();
  EXPECT_NE(refused(bare, run_of(program)).find("without its program's source"), std::string::npos);
}

}  // namespace
}  // namespace kasen
