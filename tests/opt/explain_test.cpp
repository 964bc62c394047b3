// The explanation of a plan says what the plan's own text bears out: every transition, region, buffer and law of it is
// there, with what it costs by the cost model, and the runner-up's price is that of the plan with the other mode.
#include "libopt/report/explain.h"

#include <gtest/gtest.h>

#include "libopt/cost/footprint.h"
#include "libopt/optimize/replan.h"
#include "libopt/report/report.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

struct ExplainedText {
  Module plan;
  PlanNotes notes;
  std::string text;
};

ExplainedText explain(const Module& program, SyncMode sync, Strategy strategy = Strategy::greedy) {
  static TrialLawChecker laws;
  ExplainedText made;
  made.notes.explain = true;
  OptimizeOptions options;
  options.sync = sync;
  options.strategy = strategy;
  options.notes = &made.notes;
  made.plan = optimize(program, laws, options);
  made.text = explain_text(made.plan, nullptr, &made.notes, {}, laws);
  return made;
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Nothing is left out.
void expect_complete(const ExplainedText& e, const std::string& name) {
  const SymbolNames names(e.plan);
  const CostReport report = measure(e.plan);
  size_t regions = 0;
  for_each_op(e.plan, [&](const Op& op, int number, int) {
    if (op.code == OpCode::region) ++regions;
    if (row(op.code).group != OpGroup::transition) return;
    const Cost& cost = report.rows[static_cast<size_t>(number)].actual;
    const std::string entry = e.plan.value(op.results[0]).name + " = " + std::string(row(op.code).name) + " " +
                              e.plan.value(op.operands[0]).name + ": sends " + printed_form(cost.network).text(names) +
                              " bytes";
    EXPECT_EQ(occurrences(e.text, "    " + entry), 1U) << name << ": " << entry << "\n" << e.text;
  });
  EXPECT_EQ(occurrences(e.text, "each by itself would touch"), regions) << name;
  const Polynomial pool = footprint(e.plan).buffers;
  EXPECT_NE(e.text.find("the pool: " + printed_form(pool).text(names) + " bytes;"), std::string::npos)
      << name << e.text;
  for (const LawUse& law : e.plan.laws) {
    EXPECT_NE(e.text.find(std::string(law_name(law.kind)) + " of " + e.plan.fn(law.fn).name), std::string::npos)
        << name;
  }
  EXPECT_EQ(occurrences(e.text, "the whole plan's price"), e.notes.sync.empty() ? 0U : 1U);
  EXPECT_NE(e.text.find("nothing fused:"), std::string::npos);
}

TEST(Explain, EveryExampleInEveryMode) {
  for (const char* name : {"pagerank.ks", "pagerank-i32.ks", "hits.ks", "lbfgs.ks", "logistic.ks", "bfs.ks", "sssp.ks",
                           "components.ks", "blackscholes.ks", "chain.ks"}) {
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid, SyncMode::automatic}) {
      expect_complete(explain(example(name), sync), name);
    }
  }
}

TEST(Explain, RandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const auto sync = static_cast<SyncMode>(seed % 4);
    expect_complete(explain(compile(testing::random_program(seed)), sync), "seed " + std::to_string(seed));
  }
}

TEST(Explain, PageRank) {
  const std::string text = explain(example("pagerank.ks"), SyncMode::hybrid).text;
  for (const char* words :
       {"line 11 | new_pr = (1 - r) + r * (G' @ (pr / degree))",
        "t_2_g = gather t_2: sends 8 S(G.cols) bytes, in each iteration of the while at line 10",
        "t_2 is @pre(add){G.cols}, as mxv[mul] at line 11 gives it (rule 6)", "does not take it as it was (rule 10)",
        "mxv[mul] at line 11 does not take it as it was (rule 6): %t_carried is @part, but mxv reads @cons{G.rows}",
        "the next iteration's", "touches 40 N bytes; each by itself would touch 72 N bytes",
        "saves 32 N bytes, for all sizes", "never stored: t_3", "the pool: 32 N + 16 S(G.rows) + 16 S(G.cols) bytes"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(Explain, WhatWasMovedBeforeALikelyBranch) {
  const ExplainedText e =
      explain(compile("dim N\ninput x : f64[N]\ns = sum(x)\nb = x\nif s > 1 likely { b = exp(x) }\noutput b\n"),
              SyncMode::hybrid);
  for (const char* words :
       {"Statements that run ahead\n  line 5 | if s > 1 likely { b = exp(x) }",
        "moved before the if at line 5, whose first branch is likely", "made in vain when that branch does not run"}) {
    EXPECT_NE(e.text.find(words), std::string::npos) << words << "\n" << e.text;
  }
  EXPECT_NE(report_text(e.plan, nullptr).find("(the likely branch's)"), std::string::npos);
  EXPECT_EQ(report_text(e.plan, nullptr).find("(next iteration's)"), std::string::npos);
  const std::string iteration = explain(example("pagerank.ks"), SyncMode::hybrid).text;
  EXPECT_NE(iteration.find("the next iteration's, moved here since the while is likely to go on"), std::string::npos)
      << iteration;
}

TEST(Explain, TheSplitNamesItsLaws) {
  const std::string text = explain(example("pagerank.ks"), SyncMode::lazy).text;
  EXPECT_NE(text.find("Splits\n  line 11 | new_pr"), std::string::npos) << text;
  EXPECT_NE(text.find("by exchange of f_new_pr_scale over add"), std::string::npos) << text;
  EXPECT_NE(text.find("by pushdown of f_new_pr_shift over add"), std::string::npos) << text;
  EXPECT_NE(text.find("hybrid would be"), std::string::npos) << text;  // cheaper than what was asked for
}

TEST(Explain, TheRunnerUpIsThePlanWithTheOtherMode) {
  const ExplainedText e = explain(example("pagerank.ks"), SyncMode::hybrid);
  ASSERT_EQ(e.notes.sync.size(), 2U);
  Pricing pricing({}, {});
  for (const SyncNote& note : e.notes.sync) {
    for (const auto& [mode, price] : note.prices) {
      if (mode != note.chosen) continue;
      EXPECT_DOUBLE_EQ(price.seconds, pricing(e.plan).actual.seconds);
    }
  }
  // With one unit the other plan can be made by force.
  const Module small = compile("dim N\ninput G : f64[N, N], x : f64[N]\na = G' @ x\ns = sum(2 * a)\noutput s\n");
  const ExplainedText one = explain(small, SyncMode::hybrid);
  for (const SyncNote& note : one.notes.sync) {
    for (const auto& [mode, price] : note.prices) {
      if (one.notes.sync.size() == 1) {
        EXPECT_DOUBLE_EQ(price.seconds, pricing(explain(small, mode).plan).actual.seconds);
      }
    }
  }
}

// The pool of the explanation is the one that is allocated.
TEST(Explain, BuffersAddUpToThePool) {
  for (const char* name : {"pagerank.ks", "lbfgs.ks", "hits.ks"}) {
    const Module plan_of = explain(example(name), SyncMode::hybrid).plan;
    Polynomial sum;
    for (const BufferDecl& buffer : plan_of.buffers) sum += buffer_bytes(plan_of, buffer);
    EXPECT_EQ(sum, footprint(plan_of).buffers);
  }
}

// Each of the four kinds tells what else could have been done and what would turn it.
TEST(Explain, RunnersUpAtTheirPlaces) {
  const std::string hybrid = explain(example("pagerank.ks"), SyncMode::hybrid).text;
  size_t transitions = 0;
  for_each_op(explain(example("pagerank.ks"), SyncMode::hybrid).plan,
              [&](const Op& op, int, int) { transitions += row(op.code).group == OpGroup::transition ? 1 : 0; });
  EXPECT_GE(occurrences(hybrid, "      runner-up: "), transitions);
  EXPECT_NE(hybrid.find("the choice reverses if the law of rule"), std::string::npos) << hybrid;
  EXPECT_NE(hybrid.find("shares that go on through the lawful halves of map[f_new_pr] at line 11"), std::string::npos)
      << hybrid;
  EXPECT_NE(hybrid.find("none: every use of a shared needs it whole (rule 3)"), std::string::npos) << hybrid;
  const std::string lazy = explain(example("pagerank.ks"), SyncMode::lazy).text;
  EXPECT_NE(lazy.find("in one piece"), std::string::npos) << lazy;
  EXPECT_NE(lazy.find("S(G.cols) bytes on the network, where the first half touches"), std::string::npos) << lazy;
}

// t = 0.5 * x is scattered for the product: by itself, or x in its place (as many bytes), or x and y in place of t.
TEST(Explain, AScatterWeighsWhatItIsMadeOf) {
  const Module one = compile("dim N\ninput G : f64[N, N], x : f64[N]\nt = 0.5 * x\na = G @ t\noutput a, t\n");
  EXPECT_NE(explain(one, SyncMode::hybrid)
                .text.find("would send 8 S(G.cols) bytes and touch 16 S(G.cols) bytes more; no "
                           "sizes and no price of the network would reverse the choice"),
            std::string::npos)
      << explain(one, SyncMode::hybrid).text;
  const Module tuple = compile("dim N\ninput G : f64[N, N], x : f32[N]\nt = exp(f64(x))\na = G @ t\noutput a, t\n");
  // 4 bytes instead of 8, and 12 more in memory: 12 / 4.
  EXPECT_NE(explain(tuple, SyncMode::hybrid)
                .text.find("would send 4 S(G.cols) bytes and touch 12 S(G.cols) bytes more; "
                           "cheaper if a byte on the network costs more than 3 in memory"),
            std::string::npos)
      << explain(tuple, SyncMode::hybrid).text;
}

// The plan carries its program: what its maker weighed is weighed again, and comes to the same text.
TEST(Explain, APlanFromAFileTellsAsMuch) {
  static TrialLawChecker laws;
  for (const SyncMode sync : {SyncMode::hybrid, SyncMode::lazy, SyncMode::automatic}) {
    for (const Strategy strategy : {Strategy::greedy, Strategy::none, Strategy::fuse_all, Strategy::cost}) {
      const ExplainedText e = explain(example("pagerank.ks"), sync, strategy);
      const Module read = parse_module(print_module(e.plan), "plan.kir");
      const auto again = plan_again(read, program_of(read).value(), laws, {}, {});
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(again->record.asked.sync, sync);
      EXPECT_EQ(again->record.asked.strategy, strategy);
      EXPECT_EQ(explain_text(read, nullptr, &again->notes, {}, laws), e.text);
    }
  }
}

TEST(Explain, ConstantsAndDefaultsOfParamsComeFromThePlan) {
  static TrialLawChecker laws;
  const ExplainedText e = explain(example("kmeans.ks", {{"k", "5"}, {"d", "4"}, {"turns", "7"}}), SyncMode::hybrid);
  const Module read = parse_module(print_module(e.plan), "plan.kir");
  EXPECT_TRUE(plan_again(read, program_of(read).value(), laws, {}, {}).has_value());
}

TEST(Explain, APlanRecordsItsOptions) {
  PlanRecord record;
  record.asked.strategy = Strategy::cost;
  record.made.strategy = Strategy::mpskip;
  record.asked.sync = record.made.sync = SyncMode::automatic;
  record.asked.epilogue = record.asked.epilogue_by_size = record.made.epilogue = record.made.epilogue_by_size = true;
  record.asked.split = record.made.split = false;
  record.made.move_statements = false;
  const std::string text = record_text(record);
  EXPECT_EQ(text, "strategy=cost:mpskip sync=auto split=off epilogue=auto moves=on:off");
  EXPECT_EQ(record_text(read_record(text).value()), text);
  for (const std::string wrong : {"", "strategy=cost", "strategy=best sync=auto split=off epilogue=auto moves=on",
                                  "strategy=cost:mpskip sync=auto split=off epilogue=auto moves=on more=1",
                                  "sync=auto strategy=cost split=off epilogue=auto moves=on"}) {
    EXPECT_FALSE(read_record(wrong)) << wrong;
  }
}

// A plan that was made by hand, or for other sizes, is explained without prices that are not its own.
TEST(Explain, OtherOptionsThanRecordedGiveAnotherPlan) {
  static TrialLawChecker laws;
  const ExplainedText e = explain(example("pagerank.ks"), SyncMode::hybrid);
  Module read = parse_module(print_module(e.plan), "plan.kir");
  EXPECT_EQ(read.planned_by, e.plan.planned_by);
  for (const std::string other : {"", "strategy=none sync=hybrid split=on epilogue=off moves=on"}) {
    read.planned_by = other;
    EXPECT_FALSE(plan_again(read, program_of(read).value(), laws, {}, {}).has_value()) << other;
  }
}

TEST(Explain, APlanThatWasEditedTellsAllButTheModes) {
  static TrialLawChecker laws;
  const ExplainedText e = explain(example("pagerank.ks"), SyncMode::hybrid);
  Module read = parse_module(print_module(e.plan), "plan.kir");
  read.source.back() = "output pr, degree";
  EXPECT_FALSE(plan_again(read, program_of(read).value(), laws, {}, {}).has_value());
  const std::string text = explain_text(read, nullptr, nullptr, {}, laws);
  const size_t modes = e.text.find("\nModes");
  EXPECT_EQ(text.substr(0, modes), e.text.substr(0, modes));
  EXPECT_NE(text.find("its source does not give this very plan"), std::string::npos);
}

}  // namespace
}  // namespace kasen
