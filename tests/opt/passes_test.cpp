// The pass runner and each pass by itself.
#include <gtest/gtest.h>

#include <array>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/layout.h"
#include "libopt/options/pass.h"
#include "libopt/rewrite/rewrite.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_program.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

const std::string inputs = "dim N\ninput G : null[N, N]\ninput x : f64[N], y : f64[N]\nparam r = 0.85\n";

Module hybrid(const std::string& text) { return plan(compile(inputs + text), Strategy::greedy, SyncMode::hybrid); }

std::string pass_names(const std::vector<std::pair<std::string, bool>>& passes, bool changed) {
  std::string names;
  for (const auto& [name, did] : passes) {
    if (did == changed) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

TEST(PassRunner, RunsTimesAndPrintsEachPassOfTheStrategy) {
  TrialLawChecker laws;
  OptimizeOptions options;
  options.print_after = "all";
  std::vector<std::pair<std::string, bool>> passes;
  std::vector<std::string> printed;
  options.on_pass = [&](const std::string& pass, double seconds, bool changed) {
    EXPECT_GE(seconds, 0);
    passes.emplace_back(pass, changed);
  };
  options.on_print = [&](const std::string& pass, const Module& module) {
    printed.push_back(pass);
    EXPECT_EQ(print_module(parse_module(print_module(module), "t.kir")), print_module(module));
  };
  (void)optimize(example("pagerank.ks"), laws, options);
  EXPECT_EQ(pass_names(passes, true), "speculate place identity-copies fuse-selected buffers");
  EXPECT_EQ(
      pass_names(passes, false),
      "dead-code compressed simplify speculate-branch loop-invariant pipeline absorb-entries fold-sides product-order "
      "accumulate transposes tile fuse-epilogue batch-shareds");
  EXPECT_EQ(printed.size() + 4, pass_rows().size());  // all but fuse-vector, spread, swap and schedule

  passes.clear();
  options.strategy = Strategy::fuse_all;
  (void)optimize(example("pagerank.ks"), laws, options);
  EXPECT_EQ(pass_names(passes, true), "speculate place identity-copies fuse-selected buffers");

  passes.clear();
  printed.clear();
  options.strategy = Strategy::none;
  options.print_after = "place";
  (void)optimize(example("pagerank.ks"), laws, options);
  EXPECT_EQ(pass_names(passes, true), "place buffers");
  EXPECT_EQ(pass_names(passes, false), "dead-code compressed tile");
  EXPECT_EQ(printed, std::vector<std::string>{"place"});
}

TEST(PassRunner, RefusesAnUnknownPassAndAWrongProgram) {
  TrialLawChecker laws;
  OptimizeOptions options;
  options.print_after = "fuse-vectors";
  try {
    (void)optimize(example("pagerank.ks"), laws, options);
    FAIL() << "an unknown pass was accepted";
  } catch (const UserError& e) {
    EXPECT_EQ(e.status(), ExitStatus::usage);
    EXPECT_NE(std::string(e.what()).find("did you mean 'fuse-vector'?"), std::string::npos) << e.what();
  }
  options.print_after = {};
  Module module = example("pagerank.ks");
  module.body.ops.back().operands[0] = ValueId(0);  // the output is a matrix now
  module.value(ValueId(0)).type.state = State::cons();
  EXPECT_THROW((void)optimize(module, laws, options), UserError);
}

TEST(PassRunner, GoesOnWhereAModuleStands) {
  const Module placed = [] {
    TrialLawChecker laws;
    OptimizeOptions options;
    Module at_two;
    options.print_after = "place";
    options.on_print = [&](const std::string&, const Module& module) { at_two = module; };
    (void)optimize(example("pagerank.ks"), laws, options);
    return at_two;
  }();
  ASSERT_EQ(placed.level, 2);
  const Module direct = plan(example("pagerank.ks"), Strategy::greedy, SyncMode::hybrid);
  EXPECT_EQ(print_module(plan(placed, Strategy::greedy, SyncMode::hybrid)), print_module(direct));
  EXPECT_EQ(print_module(plan(direct, Strategy::greedy, SyncMode::lazy)), print_module(direct));
}

// Runs the passes one by one, each a second time.
void expect_settled(Module module, std::uint64_t seed) {
  static TrialLawChecker laws;
  OptimizeOptions options;
  options.sync = std::array{SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}[seed % 3];
  options.epilogue = seed % 2 == 0;
  PassContext context{laws, options};
  for (const PassRow& pass : pass_rows()) {
    if (module.level < pass.from || module.level > pass.to) continue;
    (void)pass.run(module, context);
    compact_values(module);
    if (module.level < pass.from || module.level > pass.to) continue;  // it has raised the level
    const std::string once = print_module(module);
    EXPECT_FALSE(pass.run(module, context)) << pass.name << ", seed " << seed;
    compact_values(module);
    ASSERT_TRUE(print_module(module) == once) << pass.name << ", seed " << seed;
  }
}

TEST(Passes, ChangeNothingASecondTime) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) expect_settled(compile(testing::random_program(seed)), seed);
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    expect_settled(testing::RandomProgram(seed).make(4 + static_cast<int>(seed % 16)), seed);
  }
}

TEST(DeadCode, DropsWhatOnlyFeedsItself) {
  const Module module = hybrid(
      "a = x + y\nb = a * 2\nc = x\nd = y\ne = x\nfor i in 0..3 { c = c + 1\n d = d * 2 }\nif r > 0.5 { e = x } else { "
      "e = y "
      "}\n"
      "output c\n");
  EXPECT_EQ(shape(module.body), "map for(map)");
  EXPECT_EQ(first_op(module, OpCode::for_loop)->results.size(), 1U);
}

TEST(Simplify, MergesEqualOperatorsAndFollowsLists) {
  const Module module = hybrid(
      "list s[3] : f64[N] = 0\npush(s, x + y)\na = s[2] * (x + y)\ns[1] = y\nb = s[1] + s[2] + s[0]\noutput a, b\n");
  // s[2] is x + y and s[1] is y; read from the list are s[0], and x + y where it was moved into it.
  EXPECT_EQ(count_ops(module, OpCode::get), 2);
  int sums = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    sums += op.code == OpCode::map && op.operands.size() == 2 && module.fn(op.fns[0]).name == "add" ? 1 : 0;
  });
  EXPECT_EQ(sums, 1);
}

TEST(Speculate, OnlyUnderLikelyAndOnlyMapsThatAreStored) {
  const std::string body = " {\n  b = G' @ (a / y)\n  a = 0.5 * b\n  i = i + 1\n}\noutput a\n";
  const auto speculated = [](const Module& module) {
    int count = 0;
    for_each_op(module, [&](const Op& op, int, int) { count += op.speculated ? 1 : 0; });
    return count;
  };
  EXPECT_EQ(speculated(hybrid("a = x\ni = 0.0\nwhile i < 3.5 likely" + body)), 1);
  EXPECT_EQ(speculated(hybrid("a = x\ni = 0.0\nwhile i < 3.5" + body)), 0);
  // A reduction and its transitions stay behind the loop's test.
  EXPECT_EQ(
      speculated(hybrid("a = x\ni = 0.0\nwhile i < 3.5 likely {\n  s = sum(a)\n  b = G' @ a\n  a = s * b\n  i = i + "
                        "1\n}\noutput a\n")),
      0);
}

TEST(LoopInvariant, ProductsReductionsAndSharedsStandBeforeTheLoop) {
  EXPECT_EQ(shape(hybrid("a = y\nfor i in 0..3 { a = a + G' @ x }\noutput a\n").body),
            "map scatter mxv gather for(map)");
  EXPECT_EQ(shape(hybrid("a = y\nfor i in 0..3 { a = a * sum(x) }\noutput a\n").body),
            "iter_on_vec(map reduce) gather scatter for(map)");
  // Out of both loops, with the constant that it is made of.
  EXPECT_EQ(
      shape(hybrid("a = y\nfor i in 0..3 { for j in 0..2 { one : f64[N] = 1\n a = a + G @ one } }\noutput a\n").body),
      "map mxvt gather for(for(map))");
  EXPECT_EQ(shape(hybrid("a = y\nwhile sum(a) > 1 { a = a - y / sum(x) }\noutput a\n").body),
            "iter_on_vec(map reduce reduce) gather gather scatter scatter apply while(iter_on_vec(map reduce) gather "
            "scatter apply)");
}

TEST(LoopInvariant, MapsMoveIfATurnReadsNoMore) {
  const auto inside = [](const std::string& text) {
    const Module module = hybrid("a = y\nfor i in 0..3 { " + text + " }\noutput a\n");
    return shape(first_op(module, OpCode::for_loop)->blocks[0]);
  };
  EXPECT_EQ(inside("t = exp(x)\n a = a + t"), "map");
  EXPECT_EQ(inside("t = exp(x)\n a = a + t * x"), "iter_on_vec(map map)");  // x is read in any case
  EXPECT_EQ(inside("t = exp(x) * y\n a = a + t + x"), "map");               // t instead of y
  EXPECT_EQ(inside("t = exp(x)\n a = G @ t + a * x"), "map");               // the product and what it reads
}

TEST(LoopInvariant, WhatMayFailOrNotRunStays) {
  const Module list =
      hybrid("list s[3] : f64[N] = 1\nparam k = 1\na = y\nfor i in 0..3 { a = a + sum(s[k]) }\noutput a\n");
  EXPECT_NE(shape(first_op(list, OpCode::for_loop)->blocks[0]).find("get"), std::string::npos);
  const Module branch = hybrid("a = y\nfor i in 0..3 { if r > 0.5 { a = a + G' @ x } }\noutput a\n");
  EXPECT_NE(shape(first_op(branch, OpCode::for_loop)->blocks[0]).find("mxv"), std::string::npos);
}

TEST(Place, WhatALoopDoesNotChangeIsSentOnceBeforeIt) {
  const Module program = compile(inputs + "a = y\nfor i in 0..3 { a = a + G' @ x }\noutput a\n");
  EXPECT_EQ(shape(plan(program, Strategy::none, SyncMode::hybrid).body), "map scatter for(mxv gather map)");
}

TEST(Place, TransitionsOfABranchStayInIt) {
  const Module module = hybrid("a = y\nif r > 0.5 { a = G' @ x } else { a = 2 * x }\noutput a\n");
  EXPECT_EQ(shape(module.body), "apply if(scatter mxv gather)(map)");
  EXPECT_EQ(module.type(first_op(module, OpCode::if_else)->results[0]).state, State::part());
}

TEST(Place, LazyKeepsPreReducedValuesThroughLawfulMaps) {
  const Module program = compile(inputs + "a = 0.5 * (G' @ x) - y\noutput a\n");
  const Module lazy = plan(program, Strategy::none, SyncMode::lazy);
  EXPECT_EQ(shape(lazy.body), "scatter mxv map map gather");  // scaled on masters and slaves, then - y on masters
  ASSERT_EQ(lazy.laws.size(), 2U);
  EXPECT_EQ(shape(plan(program, Strategy::none, SyncMode::hybrid).body), "scatter mxv gather map");
  const Module unlawful = plan(compile(inputs + "a = abs(G' @ x)\noutput a\n"), Strategy::none, SyncMode::lazy);
  EXPECT_EQ(shape(unlawful.body), "scatter mxv gather map");
  EXPECT_TRUE(unlawful.laws.empty());
}

TEST(Place, ACarriedValueIsConsistentOnlyIfEveryTurnKeepsItSo) {
  const auto state = [](const std::string& text) {
    const Module module = plan(compile(inputs + text), Strategy::none, SyncMode::eager);
    return module.type(first_op(module, OpCode::for_loop)->results[0]).state;
  };
  const State rows = State::cons({{"G", Axis::rows}});
  EXPECT_EQ(state("a = x\nfor i in 0..3 { a = G' @ a }\noutput a\n"), rows);
  EXPECT_EQ(state("a = x\nfor i in 0..3 { a = a + 1 }\noutput a\n"), State::part());
}

TEST(IdentityCopies, StayWhereTwoCarriedValuesGetOneArray) {
  const Module forwarded = hybrid("a = x + 1\nfor i in 0..3 { b = a * 2\n a = b }\noutput a\n");
  EXPECT_EQ(shape(forwarded.body), "map for(map)");
  const Module kept =
      hybrid("a = x + 1\nb = y + 1\nfor i in 0..3 {\n  t = sum(b)\n  c = a * t\n  a = c\n  b = c\n}\noutput a, b\n");
  const Liveness live(kept);
  int copies = 0;
  for_each_op(kept, [&](const Op& op, int number, int) {
    if (!is_loop(op)) return;
    for (const Binding& binding : live.at(number).back) {
      const bool array = Layout(kept, binding.to).is_distributed();
      const bool in_place = kept.value(binding.from).buffer == kept.value(binding.to).buffer;
      copies += array && !in_place && binding.how == Handover::copy ? 1 : 0;
    }
  });
  EXPECT_EQ(copies, 0);
}

TEST(FuseVector, DoesNotReachAcrossATransition) {
  // The second map needs the reduction's total: it cannot join the first one's region.
  const Module module = hybrid("a = x + y\ns = sum(a)\nb = a / s\noutput b\n");
  EXPECT_EQ(shape(module.body), "iter_on_vec(map reduce) gather scatter map");
}

TEST(FuseVector, ProgramOrderPlaysNoPart) {
  const Module module = hybrid("a = x + 1\nb = G' @ x\nc = a * y\nd = b + c\ns = sum(a)\noutput d, s\n");
  EXPECT_EQ(shape(module.body), "scatter mxv gather iter_on_vec(map map map reduce) gather scatter");
}

TEST(Buffers, AreSharedByValuesWhoseLivesDoNotMeet) {
  const Module module = plan(compile(inputs + "a = x + 1\nb = a * 2\nc = b + y\nd = c / 3\noutput d\n"), Strategy::none,
                             SyncMode::hybrid);
  EXPECT_EQ(module.buffers.size(), 1U);
}

TEST(Buffers, ListsExchangeStorageWithWhatIsStoredInThem) {
  const Module module = hybrid(
      "list s[4] : f64[N] = 0\na = x\nfor i in 0..9 {\n  b = G' @ a\n  push(s, b)\n  a = b + s[0]\n}\n"
      "output a\n");
  const Liveness live(module);
  for_each_op(module, [&](const Op& op, int number, int) {
    if (op.code != OpCode::push) return;
    EXPECT_EQ(live.at(number).list[0].how, Handover::move);
    EXPECT_EQ(live.at(number).element[0].how, Handover::move);
  });
}

}  // namespace
}  // namespace kasen
