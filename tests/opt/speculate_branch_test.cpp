// Work of likely branches: what moves before the `if`, what stays, and what it saves.
#include <gtest/gtest.h>

#include "libcore/laws/laws.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/ahead.h"
#include "libopt/time/price.h"
#include "tests/opt/likely_programs.h"
#include "tests/opt/plan_support.h"

namespace kasen {

namespace {

Module hybrid_plan(const std::string& text) { return plan(compile(text), Strategy::greedy, SyncMode::hybrid); }

int moved(const Module& module) {
  int count = 0;
  for (const Op* branch : made_ahead(module)) count += branch != nullptr ? 1 : 0;
  return count;
}

std::string words(const Polynomial& p, const Module& module) { return paper_form(p).text(SymbolNames(module)); }

const std::string x_and_y = "dim N\ninput G : null[N, N]\ninput x : f64[N], y : f64[N]\n";

TEST(SpeculateBranch, JoinsTheWorkBeforeTheBranch) {
  const std::string text = testing::likely_programs()[0].text;
  const Module apart = hybrid_plan(testing::with_word(text, ""));
  const Module joined = hybrid_plan(testing::with_word(text, "likely"));
  EXPECT_EQ(shape(apart.body),
            "iter_on_vec(map reduce) gather scatter apply if(iter_on_vec(map map reduce) gather scatter)()");
  EXPECT_EQ(shape(joined.body), "iter_on_vec(map reduce map map reduce) gather scatter apply if(gather scatter)()");
}

TEST(SpeculateBranch, SavesWhatTheBranchReadAgain) {
  const std::string text = testing::likely_programs()[0].text;
  const Module apart = hybrid_plan(testing::with_word(text, "")),
               joined = hybrid_plan(testing::with_word(text, "likely"));
  const CostReport before = measure(apart), after = measure(joined);
  EXPECT_EQ(words(before.model.read, apart), "16 N + 16 N then@8");
  EXPECT_EQ(words(after.model.read, joined), "16 N");
  EXPECT_EQ(words(before.model.written, apart), "8 N + 8 N then@8");
  EXPECT_EQ(words(after.model.written, joined), "8 N");
  EXPECT_EQ(words(before.model.network, apart), "16 P + 16 P then@8 - 16 then@8 - 16");
  EXPECT_EQ(words(after.model.network, joined), "16 P + 16 P then@8 - 16 then@8 - 16");
}

TEST(SpeculateBranch, GoldenIr) {
  Module module = compile(testing::with_word(testing::likely_programs()[0].text, "likely"));
  TrialLawChecker laws;
  const OptimizeOptions options;
  PassContext context{laws, options};
  EXPECT_TRUE(pass_speculate_branch(module, context));
  compact_values(module);
  const std::string made = print_module(module, false);
  EXPECT_EQ(made.substr(made.find("  %test = ")),
            "  %test = apply[gt] %s, %limit : bool @? at 8:6\n"
            "  %b_2 = map[f_b] %a speculated : f64[N] @? at 9:9\n"
            "  %t_2 = map[mul] %b_2, %y speculated : f64[N] @? at 10:7\n"
            "  %t_3 = reduce[add] %t_2 speculated : f64 @? at 10:7\n"
            "  %b_3, %t_4 = if %test likely : f64[N] @?, f64 @? at 8:1 {\n"
            "    yield %b_2, %t_3 at 8:1\n"
            "  } else {\n"
            "    yield %b, %t at 8:1\n"
            "  }\n"
            "  output \"b\" %b_3 at 12:8\n"
            "  output \"t\" %t_4 at 12:11\n"
            "}\n##end\n");
  EXPECT_FALSE(pass_speculate_branch(module, context));
}

// So that what runs them (speculate_branch_run) tries the pass, too.
TEST(SpeculateBranch, MovesWorkOfEveryProgram) {
  for (const auto& [name, text] : testing::likely_programs()) {
    EXPECT_GT(moved(hybrid_plan(testing::with_word(text, "likely"))), 0) << name;
    EXPECT_EQ(moved(hybrid_plan(testing::with_word(text, ""))), 0) << name;
  }
}

TEST(SpeculateBranch, WhatSavesNothingStays) {
  // Nothing around the branch touches y.
  EXPECT_EQ(moved(hybrid_plan(x_and_y + "s = sum(x)\nb = x\nif s > 1 likely { b = exp(y) }\noutput b\n")), 0);
  // The rest of the branch would have read x where it stands.
  EXPECT_EQ(moved(hybrid_plan(x_and_y +
                              "s = sum(x)\nb = y\nif s > 1 likely { t = exp(x)\n b = G' @ y + t * x }\noutput b\n")),
            0);
  // It is the other branch that reads it, or nobody says that it is likely.
  EXPECT_EQ(
      moved(hybrid_plan(x_and_y + "s = sum(x)\nb = y\nif s > 1 likely { b = 2 * y } else { b = exp(x) }\noutput b\n")),
      0);
  EXPECT_EQ(moved(hybrid_plan(x_and_y + "s = sum(x)\nb = y\nif s > 1 { b = exp(x) }\noutput b\n")), 0);
  EXPECT_EQ(moved(hybrid_plan(x_and_y + "s = sum(x)\nb = y\nif s > 1 likely { b = exp(x) }\noutput b\n")), 1);
}

TEST(SpeculateBranch, NothingIsSentForABranchThatDoesNotRun) {
  const std::string text =
      x_and_y + "a = x + y\ns = sum(a)\nb = y\nif s > 1 likely { u = exp(a)\n b = G' @ u }\noutput b\n";
  for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {  // eager sends x and y before
    const Module module = plan(compile(text), Strategy::greedy, sync);
    EXPECT_EQ(moved(module), 1) << static_cast<int>(sync);
    const std::string inside = shape(first_op(module, OpCode::if_else)->blocks[0]);
    EXPECT_NE(inside.find("scatter mxv"), std::string::npos) << static_cast<int>(sync) << inside;
  }
  // A product's shares are gathered in the branch; a map of them before it would have to gather them.
  const std::string shares = x_and_y + "p = G' @ x\nm = max(x)\nb = y\nif m > 1 likely { b = exp(p) + x }\noutput b\n";
  EXPECT_EQ(moved(hybrid_plan(shares)), 1);  // gathers where the product stands in any case
  EXPECT_EQ(moved(plan(compile(shares), Strategy::greedy, SyncMode::automatic)), 0);
  const Module lazy = plan(compile(shares), Strategy::greedy, SyncMode::lazy);
  EXPECT_EQ(moved(lazy), 0);
  EXPECT_EQ(shape(first_op(lazy, OpCode::if_else)->blocks[0]).substr(0, 6), "gather");
}

// What leaves the inner branch leaves the outer one, too.
TEST(SpeculateBranch, OutOfNestedBranches) {
  const std::string text =
      x_and_y + "s = sum(x)\nb = y\nif s > 1 likely { m = max(x)\n if m > 2 likely { b = exp(x) } }\noutput b\n";
  const Module module = hybrid_plan(text);
  EXPECT_EQ(moved(module), 2);
  EXPECT_EQ(shape(module.body).substr(0, 32), "iter_on_vec(reduce reduce map) g");
}

// Nothing in the outer branch touches x: only before both is there something to win.
TEST(SpeculateBranch, OutOfTwoBranchesAtOnce) {
  const auto text = [](const std::string& outer) {
    return x_and_y + "param p = 1.0\ns = sum(x)\nb = y\nif s > 1 " + outer +
           " { if p > 0 likely { b = exp(x) } else { b = 2 * y } }\noutput b\n";
  };
  const Module module = hybrid_plan(text("likely"));
  EXPECT_EQ(moved(module), 1);
  EXPECT_EQ(shape(module.body).substr(0, 25), "iter_on_vec(reduce map) g");
  EXPECT_EQ(moved(hybrid_plan(text(""))), 0);
}

TEST(SpeculateBranch, NoPlanIsDearerThanWithoutIt) {
  for (const auto& [name, text] : testing::likely_programs()) {
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
      Pricing pricing({}, {});
      const PlanPrice with = pricing(plan(compile(testing::with_word(text, "likely")), Strategy::greedy, sync));
      const PlanPrice unfused = pricing(plan(compile(testing::with_word(text, "likely")), Strategy::none, sync));
      EXPECT_FALSE(dearer(with.actual.seconds, unfused.actual.seconds)) << name;
      EXPECT_FALSE(dearer(with.model.seconds, unfused.model.seconds)) << name;
    }
  }
}

}  // namespace
}  // namespace kasen
