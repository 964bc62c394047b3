// Strategies of fusion: the plan by cost is never dearer than any other, selected operators are regions of exactly
// these, and nothing is taken apart that is chosen as one.
#include "libopt/optimize/strategies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "libopt/cost/sizes.h"
#include "libopt/sync/plan_memo.h"
#include "libopt/time/price.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

double seconds_of(const Module& module) { return Pricing({}, {})(module).actual.seconds; }

void expect_cheapest(const Module& program, SyncMode sync = SyncMode::hybrid) {
  const double chosen = seconds_of(plan(program, Strategy::cost, sync));
  for (const Strategy strategy : plan_strategies) {
    const Module other = plan(program, strategy, sync);
    EXPECT_FALSE(dearer(chosen, seconds_of(other))) << strategy_name(strategy) << '\n' << print_module(other);
  }
}

TEST(Strategies, CostIsNeverDearerThanAnyOther) {
  for (const auto& file : std::filesystem::directory_iterator(KASEN_ROOT "/examples")) {
    if (file.path().extension() != ".ks") continue;
    SCOPED_TRACE(file.path().filename().string());
    expect_cheapest(example(file.path().filename().string()));
  }
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    expect_cheapest(compile(testing::random_program(seed)), seed % 2 == 0 ? SyncMode::lazy : SyncMode::hybrid);
  }
}

// Sums of rows and columns, and a product there and back: several results of one pass. A choice among entries has one.
TEST(Strategies, BlocksTakeOperatorsOfSeveralResults) {
  const Module program = compile(
      "dim N, F local = 10\ninput X : f64[N, F], y : f64[N]\n"
      "e = exp(y)\ns = sum(e)\noutput r = sum(X, over F), c = sum(X, over N), z = e / s\n");
  EXPECT_EQ(shape(plan(program, Strategy::mpskip, SyncMode::hybrid).body),
            shape(plan(program, Strategy::greedy, SyncMode::hybrid).body));
}

// A total stands between two readers of e: stored, it is written and read; computed twice, x is read once more.
const char* const twice = "dim N\ninput x : f64[N]\ne = 2 * x\nt = sum(e)\noutput y = e / t\n";

TEST(Strategies, WhatIsCheapIsComputedAgain) {
  const Module program = compile(twice);
  const auto shape_by = [&](Strategy strategy) { return shape(plan(program, strategy, SyncMode::hybrid).body); };
  EXPECT_EQ(shape_by(Strategy::greedy), "iter_on_vec(map reduce) gather scatter map");
  EXPECT_EQ(shape_by(Strategy::fuse_no_redundancy), "map reduce gather scatter map");
  EXPECT_EQ(shape_by(Strategy::fuse_all), "iter_on_vec(map reduce) gather scatter iter_on_vec(map map)");
  EXPECT_EQ(shape_by(Strategy::cost), shape_by(Strategy::fuse_all));
  const auto touched = [&](Strategy strategy) {
    const Module made = plan(program, strategy, SyncMode::hybrid);
    Cost all;
    for (const CostRow& row : measure(made).rows) all += row.actual;
    return "reads " + all.read.text(SymbolNames(made)) + ", writes " + all.written.text(SymbolNames(made));
  };
  EXPECT_EQ(touched(Strategy::greedy), "reads 16 N, writes 16 N");
  EXPECT_EQ(touched(Strategy::cost), "reads 16 N, writes 8 N");
}

TEST(Strategies, GreedyIsTakenWhereOthersAreNoCheaper) {
  static TrialLawChecker laws;
  const Module program = compile("dim N\ninput x : f64[N]\noutput y = exp(2 * x)\n");
  const StrategyChoice choice = weigh_strategies(program, laws, {});
  EXPECT_EQ(choice.chosen, Strategy::greedy);
  const std::string text = strategies_text(choice);
  EXPECT_NE(text.find("cost takes greedy; the runner-up, fuse-no-redundancy, is predicted to take the same"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("regret of the greedy plan: 1 ("), std::string::npos) << text;
}

// Vectors, each the base of the next, with a total between its two readers. Fusing all computes every one of them again
// for each total behind it, up to the next product.
Module long_program(int steps, int between_products) {
  std::string text = "dim N\ninput G : f64[N, N], u : f64[N], v : f64[N]\na_0 = u\n";
  for (int i = 1; i <= steps; ++i) {
    text += fmt::format("e_{0} = tanh(a_{1} + v)\nt_{0} = sum(e_{0})\na_{0} = {2}e_{0} / t_{0}\n", i, i - 1,
                        i % between_products == 0 ? "G @ v + " : "");
  }
  return compile(text + fmt::format("output a_{}\n", steps));
}

int operators_in(const Module& module) {
  int operators = 0;
  for_each_op(module, [&](const Op&, int, int) { ++operators; });
  return operators;
}

// What is counted here is what planning takes its time with: plans to the end, and operators of plans that are costed.
TEST(Strategies, PlanningALongProgramIsBounded) {
  static TrialLawChecker laws;
  const Module program = long_program(333, 40);
  ASSERT_GT(operators_in(program), 1000);
  OptimizeOptions options{.sync = SyncMode::automatic};
  options.memo = std::make_shared<PlanMemo>();
  const StrategyChoice choice = weigh_strategies(program, laws, options);
  for (const auto& [way, trials] : options.memo->trials) {
    int tried = 0;
    for (const auto& [text, plan] : trials.by_text) tried += plan.operators;
    EXPECT_LT(tried, 20'000) << strategy_name(way.first);
    EXPECT_TRUE(way.first == Strategy::greedy || way.first == Strategy::none) << "each strategy with trials of its own";
  }
  EXPECT_LE(options.memo->trials.size(), 3U);  // greedy's with and without moves
}

TEST(Strategies, FusingAllOfALongProgramIsBounded) {
  static TrialLawChecker laws;
  const Module program = long_program(120, 1000);
  PlanNotes notes;
  OptimizeOptions options{.notes = &notes};
  options.strategy = Strategy::fuse_all;
  const int whole = operators_in(optimize(program, laws, options));
  options.bounded = true;
  const int bounded = operators_in(optimize(program, laws, options));
  EXPECT_GT(whole, 10'000);
  EXPECT_LT(bounded, 1'500);
  ASSERT_EQ(notes.fusion.size(), 2U);
  EXPECT_TRUE(notes.fusion[0].cut.empty());
  ASSERT_EQ(notes.fusion[1].cut.size(), 1U);
  EXPECT_NE(notes.fusion[1].cut[0].find("what several need is stored"), std::string::npos);
}

// A search that does not end in its budget says by how much its choice may be too dear.
TEST(Strategies, ACutSearchGivesItsGap) {
  static TrialLawChecker laws;
  PlanNotes notes;
  OptimizeOptions options{.strategy = Strategy::mpskip, .notes = &notes};
  options.bounded = true;
  (void)optimize(long_program(100, 1000), laws, options);
  ASSERT_EQ(notes.fusion.size(), 1U);
  ASSERT_FALSE(notes.fusion[0].cut.empty());
  EXPECT_NE(notes.fusion[0].cut[0].find(" plans were costed; the choice takes at most "), std::string::npos);
}

// Stored entries that two folds read: with few columns each fold computes them, with many they are stored.
TEST(Strategies, StoredEntriesAreComputedAgainWhereThatIsCheaper) {
  const auto program = [](int columns) {
    return compile(
        fmt::format("dim N, M, K local = {}\ninput X : f64[N, M], U : f64[N, K], V : f64[M, K]\n"
                    "R = X / (U @ V')\noutput A = R @ V\noutput B = R' @ U\n",
                    columns));
  };
  const auto stores = [&](int columns, Strategy strategy) {
    return count_ops(plan(program(columns), strategy, SyncMode::hybrid), OpCode::entries);
  };
  for (const int columns : {2, 64}) {
    EXPECT_EQ(stores(columns, Strategy::greedy), 1);
    EXPECT_EQ(stores(columns, Strategy::fuse_no_redundancy), 1);
    EXPECT_EQ(stores(columns, Strategy::fuse_all), 0);
    expect_cheapest(program(columns));
  }
  EXPECT_EQ(stores(2, Strategy::cost), 0);
  EXPECT_EQ(stores(64, Strategy::cost), 1);
}

// Vector work before a product back over the columns, in one pass with it.
TEST(Strategies, ChainsBeginWithWorkOnRows) {
  const Module program =
      compile("dim N, F local = 4\ninput X : f64[N, F], y : f64[N], z : f64[N]\noutput g = X' @ (y * exp(z))\n");
  for (const Strategy strategy : {Strategy::greedy, Strategy::fuse_all, Strategy::cost}) {
    EXPECT_EQ(shape(plan(program, strategy, SyncMode::hybrid).body), "row_chain(map mxv) gather scatter");
  }
}

// Products with one sparse matrix are one region whatever strategy selects them.
TEST(Strategies, ProductsOfOneMatrixRunTogether) {
  const Module program = compile(
      "dim N\ninput G : f64[N, N], a : f64[N], b : f64[N], c : f64[N]\n"
      "output x = G' @ a\noutput y = G' @ b\noutput z = G @ c\n");
  for (const Strategy strategy :
       {Strategy::greedy, Strategy::fuse_all, Strategy::fuse_no_redundancy, Strategy::mpskip}) {
    const std::string made = shape(plan(program, strategy, SyncMode::hybrid).body);
    EXPECT_NE(made.find("mxm(mxv mxv)"), std::string::npos) << strategy_name(strategy) << ": " << made;
  }
}

// By the actual column, which a selection by cost is asked by.
TEST(Strategies, ASelectionByCostTakesLessThanTheHeuristics) {
  static TrialLawChecker laws;
  const StrategyChoice choice = weigh_strategies(example("glm.ks"), laws, {});
  const auto price = [&](Strategy strategy) {
    return std::find_if(choice.prices.begin(), choice.prices.end(),
                        [&](const StrategyPrice& priced) { return priced.strategy == strategy; })
        ->price;
  };
  for (const Strategy other : {Strategy::fuse_no_redundancy, Strategy::fuse_all, Strategy::none}) {
    EXPECT_LT(price(Strategy::mpskip).actual.seconds, price(other).actual.seconds) << strategy_name(other);
  }
}

PlanNotes notes_of(const Module& program, Strategy strategy) {
  static TrialLawChecker laws;
  PlanNotes notes;
  notes.explain = true;
  OptimizeOptions options;
  options.strategy = strategy;
  options.notes = &notes;
  (void)optimize(program, laws, options);
  return notes;
}

TEST(Strategies, NotesNameWhatIsStoredAndComputedAgain) {
  const PlanNotes again = notes_of(compile(twice), Strategy::fuse_all);
  ASSERT_EQ(again.fusion.size(), 1U);
  EXPECT_EQ(again.fusion[0].again, std::vector<std::string>{"e in 2 operators"});
  ASSERT_EQ(again.points.size(), 1U);
  EXPECT_EQ(again.points[0].inside, std::vector<std::string>{"e"});
  const PlanNotes stored = notes_of(compile(twice), Strategy::greedy);
  ASSERT_EQ(stored.points.size(), 1U);
  EXPECT_EQ(stored.points[0].stored, std::vector<std::string>{"e"});
}

// What selection chooses as one operator runs as one: of all examples, none is taken apart.
TEST(Strategies, NothingIsTakenApart) {
  const Module program =
      compile("dim N, K local = 3\ninput Y : f64[N, K]\nE = exp(Y)\noutput P = E / sum(E, over K)\n");
  EXPECT_EQ(shape(plan(program, Strategy::fuse_all, SyncMode::hybrid).body), "rows(map reduce map)");
  for (const auto& file : std::filesystem::directory_iterator(KASEN_ROOT "/examples")) {
    if (file.path().extension() != ".ks") continue;
    SCOPED_TRACE(file.path().filename());
    const Module made = example(file.path().filename().string());
    for (const Strategy strategy :
         {Strategy::greedy, Strategy::fuse_all, Strategy::fuse_no_redundancy, Strategy::cost}) {
      for (const FusionNote& note : notes_of(made, strategy).fusion) {
        EXPECT_TRUE(note.splits.empty()) << note.block << ": " << note.splits[0];
      }
    }
  }
}

// There and back over whole rows of a sparse matrix: one region reads it once, two products take rows of one length
// together. On two cores with a fast memory the region is faster with forty nonzeros a row, and slower with one.
TEST(Strategies, RowsOfFewNonzerosGoApart) {
  const Module program = compile(
      "dim N, F local = 100\ninput X : sparse f64[N, F], w : f64[N], v : f64[F]\noutput g = X' @ (w * (X @ v))\n");
  const auto shape_with = [&](const std::string& entries) {
    static TrialLawChecker laws;
    OptimizeOptions options;
    options.strategy = Strategy::cost;
    options.machine.memory_bandwidth = 30e9;
    options.machine.write_bandwidth = 90e9;
    options.machine.near_entry = 0.3e-9;
    options.machine.operation.fill(0.02e-9);
    options.sizes = [=](const Module& plan) { return known_sizes(plan, "N=1000000,P=1,nnz=" + entries); };
    return shape(optimize(program, laws, options).body);
  };
  EXPECT_EQ(shape_with("40000000"), "rows(mxvt map mxv) gather scatter");
  EXPECT_EQ(shape_with("1000000"), "mxvt map mxv gather scatter");
}

// Two products of one matrix run as one; what is made of the first one's result, and goes into the second, had that
// result for itself, until its operator was taken apart.
TEST(Strategies, OperatorsOfSeveralResultsNeedNothingThatIsMadeOfThem) {
  const Module program = compile(
      "dim N\ninput x : f64[N]\ninput G : f64[N, N]\nv = mxvt((x, w) -> x, max, if fill(true, N) then argmax(x) else "
      "argmin(x), G)\nu = mxvt((x, w) -> x, min, G, map(min, v, v))\nu = if true then argmax(map(f64, i64(v))) else "
      "u\noutput u\n");
  for (const Strategy strategy : {Strategy::fuse_all, Strategy::fuse_no_redundancy, Strategy::cost}) {
    TrialLawChecker laws;
    require_valid(plan(program, strategy, SyncMode::automatic), laws);
  }
}

}  // namespace
}  // namespace kasen
