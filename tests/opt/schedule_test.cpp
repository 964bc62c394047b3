// Schedules (level 4): as text and back; what the verifier refuses; and whatever it accepts runs to the same bits.
#include "libcore/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "libcore/laws/laws.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

Module scheduled_plan(const Module& program, SyncMode sync, bool epilogue, Strategy strategy = Strategy::greedy) {
  static TrialLawChecker laws;
  OptimizeOptions options;
  options.strategy = strategy;
  options.sync = sync;
  options.epilogue = epilogue;
  options.schedule = true;
  return optimize(program, laws, options);
}

std::vector<Diagnostic> faults_of(const Module& module) {
  static TrialLawChecker laws;
  return verify_module(module, laws);
}

// Outputs as words of each worker.
std::string bits_of(const Module& module, const std::vector<Part>& parts) {
  std::string bits;
  for (const Output& output : testing::run_simulated(module, parts).outputs) {
    bits += output.name;
    for (const OutputPart& part : output.parts) {
      bits.append(reinterpret_cast<const char*>(part.data.bytes.data()), static_cast<size_t>(part.data.bytes.size()));
    }
  }
  return bits;
}

std::string lines_of(const Module& module, const Block& block) {
  std::string text;
  for (const ScheduleLine& line : block.schedule) text += print_line(module, block, line) + "; ";
  return text;
}

std::string all_lines(const Module& module) {
  std::string text = lines_of(module, module.body);
  for_each_op(module, [&](const Op& op, int, int) {
    for (const Block& block : op.blocks) {
      if (!block.schedule.empty()) text += "{ " + lines_of(module, block) + "} ";
    }
  });
  return text;
}

void visit_blocks(Block& block, const std::function<void(Block&)>& visit) {
  visit(block);
  for (Op& op : block.ops) {
    if (op.code == OpCode::region) continue;
    for (Block& inner : op.blocks) visit_blocks(inner, visit);
  }
}

// One random change of one schedule: lines exchanged, moved, left out, split or written twice.
Module changed(Module module, std::mt19937_64& random) {
  std::vector<Block*> blocks;
  visit_blocks(module.body, [&](Block& block) {
    if (!block.schedule.empty()) blocks.push_back(&block);
  });
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::vector<ScheduleLine>& lines = blocks[below(blocks.size())]->schedule;
  const size_t at = below(lines.size());
  const auto some = [&](const auto& wanted) {  // the first such line behind a random one
    const auto from = lines.begin() + static_cast<std::ptrdiff_t>(at);
    return static_cast<size_t>(std::find_if(from, lines.end(), wanted) - lines.begin());
  };
  switch (random() % 8) {
    case 0:
      std::swap(lines[at], lines[(at + 1) % lines.size()]);
      break;
    case 1: {  // later, or at the end
      const ScheduleLine line = lines[at];
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at + below(lines.size() - at + 1)), line);
      break;
    }
    case 2:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 3:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())), lines[at]);
      break;
    case 4:
      lines[at].rows = static_cast<LineRows>(random() % 5);
      break;
    case 5: {  // a wait some lines later
      const size_t wait = some([](const ScheduleLine& l) { return l.kind == LineKind::wait; });
      if (wait == lines.size()) break;
      const auto from = lines.begin() + static_cast<std::ptrdiff_t>(wait);
      std::rotate(from, from + 1,
                  from + 1 + static_cast<std::ptrdiff_t>(below(std::min<size_t>(lines.size() - wait, 4))));
      break;
    }
    case 6: {  // a batch one by one
      const size_t start = some([](const ScheduleLine& l) { return l.kind == LineKind::start && l.count > 1; });
      if (start + 1 >= lines.size()) break;
      ScheduleLine rest = lines[start];
      --rest.count;
      ++rest.op;
      lines[start].count = lines[start + 1].count = 1;
      ScheduleLine wait = rest;
      wait.kind = LineKind::wait;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(start + 2), {rest, wait});
      break;
    }
    default: {  // all rows of a product at once, or those that are ready with the others
      const size_t rows =
          some([](const ScheduleLine& l) { return l.rows == LineRows::ready || l.rows == LineRows::ghosts; });
      if (rows == lines.size()) break;
      const int op = lines[rows].op;
      if (lines[rows].rows == LineRows::ghosts) {
        lines[rows].rows = LineRows::all;
        std::erase_if(lines, [&](const ScheduleLine& l) { return l.op == op && l.rows == LineRows::rest; });
      } else {
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(rows));
      }
    }
  }
  return module;
}

struct Verdicts {
  int accepted = 0, refused = 0, waiting = 0;
};

// Changes the schedule of a random program's plan again and again; accepted ones must give the plan's bits.
void check_changes(std::uint64_t seed, int times, Verdicts& tally) {
  std::mt19937_64 random(seed);
  const std::string text = testing::random_program(seed);
  const Module program = compile(text);
  const SyncMode modes[] = {SyncMode::hybrid, SyncMode::lazy, SyncMode::eager};
  const Strategy strategy = plan_strategies[seed / 3 % std::size(plan_strategies)];
  const Module plan = scheduled_plan(program, modes[seed % 3], seed % 2 == 0, strategy);
  const int workers = static_cast<int>(seed % 4) + 1;
  const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 17, 50, seed));
  Module plain = plan;
  plain.level = 3;
  const std::string wanted = bits_of(plain, parts);
  ASSERT_EQ(bits_of(plan, parts), wanted) << text;
  Module now = plan;
  for (int i = 0; i < times; ++i) {
    Module next = changed(now, random);
    if (all_lines(next) == all_lines(now)) continue;
    if (!faults_of(next).empty()) {
      ++tally.refused;
      continue;
    }
    ++tally.accepted;
    ASSERT_EQ(bits_of(next, parts), wanted) << text << "\n" << all_lines(next);
    EXPECT_EQ(print_module(parse_module(print_module(next), "next.kir")), print_module(next));
    now = std::move(next);
  }
}

TEST(Schedule, WhateverIsAcceptedGivesTheSameBits) {
  Verdicts tally;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) check_changes(seed, 25, tally);
  check_changes(2250, 25, tally);  // a product writes over the operand of the scatter before it
  EXPECT_GT(tally.accepted, 50);
  EXPECT_GT(tally.refused, 500);
}

class ScheduleLong : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Long, ScheduleLong, ::testing::Range(0, 40));
TEST_P(ScheduleLong, WhateverIsAcceptedGivesTheSameBits) {
  Verdicts tally;
  for (int i = 0; i < 50; ++i) check_changes(static_cast<std::uint64_t>(1000 + GetParam() * 50 + i), 60, tally);
}

TEST(Schedule, IsTextAndStaysAsItIs) {
  for (const char* name : {"pagerank.ks", "hits.ks", "kmeans.ks", "lbfgs.ks", "kcore.ks", "blackscholes.ks"}) {
    for (const bool epilogue : {false, true}) {
      SCOPED_TRACE(name);
      const Module plan = scheduled_plan(example(name), SyncMode::hybrid, epilogue);
      EXPECT_EQ(plan.level, 4);
      EXPECT_TRUE(faults_of(plan).empty());
      const std::string text = print_module(plan);
      EXPECT_EQ(print_module(parse_module(text, "plan.kir")), text);
      EXPECT_EQ(print_module(scheduled_plan(plan, SyncMode::hybrid, epilogue)), text);
    }
  }
}

TEST(Schedule, OverlapsAProductWithBothItsExchanges) {
  const Module plan = scheduled_plan(example("pagerank.ks"), SyncMode::hybrid, false);
  const std::string lines = all_lines(plan);
  for (const char* line : {"ready; wait", "ghosts; start", "rest; wait", "free form 0"}) {
    EXPECT_NE(lines.find(line), std::string::npos) << line << "\n" << lines;
  }
}

TEST(Schedule, HoldsTheFormsOfAllProducts) {
  const Module plan = scheduled_plan(example("hits.ks"), SyncMode::hybrid, false);
  const std::vector<ProductForm> forms = product_forms(plan);
  ASSERT_EQ(forms.size(), 2U);
  EXPECT_NE(forms[0].by_rows, forms[1].by_rows);
}

// Lines of PageRank's plan: each is replaced by others, and the verifier says why that is wrong.
struct Edit {
  const char *from, *to, *what, *why;
};

const Edit edits[] = {
    {"    run output \"pr\"\n", "", "ends before it has run", ""},
    {"      wait %t_2_g\n", "", "'run %new_pr'", "%t_2_g is not complete there"},
    {"      run %t_2 ready\n      wait %t_carried_s\n", "      wait %t_carried_s\n      run %t_2 ready\n", "", ""},
    {"      wait %t_carried_s\n      run %t_2 ghosts\n", "      run %t_2 ghosts\n      wait %t_carried_s\n",
     "'run %t_2 ghosts'", "%t_carried_s is not complete there"},
    {"      start %t_2_g\n      run %t_2 rest\n", "      run %t_2 rest\n      start %t_2_g\n", "", ""},
    {"      wait %t_2_g\n      run %new_pr\n", "      run %new_pr\n      wait %t_2_g\n", "'run %new_pr'",
     "is not complete there"},
    {"      run %t_2 ghosts\n", "", "'start %t_2_g'", "%t_2 is not complete there"},
    {"      run %t_2 rest\n", "      run %t_2 joined\n", "'run %t_2 joined'", "an operator has one line"},
    {"      run %new_pr\n", "      run %new_pr ready\n", "'run %new_pr ready'", "an operator has one line"},
    {"      run %new_pr\n", "      run %new_pr\n      run %new_pr\n", "'run %new_pr'", "an operator has one line"},
    {"      run %new_pr\n", "      start %new_pr\n", "'start %new_pr'", "exchanges are started"},
    {"      start %diff_g\n", "      run %diff_g\n", "'run %diff_g'", "exchanges are started"},
    {"      wait %t_carried_s\n", "", "'run %t_2 ghosts'", "%t_carried_s is not complete there"},
    {"      wait %diff_g\n      start %diff_s\n", "      start %diff_s\n      wait %diff_g\n", "'start %diff_s'",
     "another exchange is under way"},
    {"      start %diff_g\n      wait %diff_g\n      start %diff_s\n      wait %diff_s\n",
     "      start %diff_g, %diff_s\n      wait %diff_g, %diff_s\n", "'start %diff_g, %diff_s'",
     "only shareds travel together"},
    {"    form 1 for %t_2\n", "", "does not begin with the memory", ""},
    {"    free form 0\n", "    free form 7\n", "form 7 is freed", ""},
    {"    free form 0\n", "    free form 0\n    free form 0\n", "form 0 is freed", ""},
    {"    free form 0\n", "    free form 1\n", "form 1 is freed too early", ""},
    {"      start %diff_g\n", "      alloc ~b0\n      start %diff_g\n", "does not stand there", "at the head"},
    {"      move %new_pr, %t_next\n", "", "does not end with what its block hands on", "'move %new_pr, %t_next'"},
    {"      move %new_pr, %t_next\n", "      copy %new_pr, %t_next\n", "does not end with what its block hands on", ""},
    {"      move %new_pr, %t_next\n", "      move %new_pr\n", "does not end with what its block hands on", ""},
    {"      run %not_converged_3\n", "      move %new_pr\n      run %not_converged_3\n", "does not stand there",
     "at its end"},
    {"    run %pr_5\n    run %t_first\n", "    run %t_first\n    run %pr_5\n", "'run %t_first'",
     "in the order of the text"},
};

// "" if it is accepted.
std::string told(const std::string& text) {
  try {
    const std::vector<Diagnostic> faults = faults_of(parse_module(text, "plan.kir"));
    return faults.empty() ? "" : format_diagnostic(faults[0]);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(Schedule, IsRefusedWithItsReason) {
  const std::string text = print_module(scheduled_plan(example("pagerank.ks"), SyncMode::hybrid, false));
  for (const Edit& edit : edits) {
    std::string changed = text;
    const size_t at = changed.find(edit.from);
    ASSERT_NE(at, std::string::npos) << edit.from << text;
    changed.replace(at, std::string(edit.from).size(), edit.to);
    const std::string fault = told(changed);
    EXPECT_EQ(fault.empty(), std::string(edit.what).empty()) << edit.from << " to " << edit.to << ": " << fault;
    EXPECT_NE(fault.find(edit.what), std::string::npos) << fault;
    EXPECT_NE(fault.find(edit.why), std::string::npos) << fault;
  }
}

TEST(Schedule, IsReadWithItsPosition) {
  const std::string text = print_module(scheduled_plan(example("pagerank.ks"), SyncMode::hybrid, false));
  const auto with = [&](const std::string& line) {
    std::string changed = text;
    changed.replace(changed.find("      run %new_pr\n"), 0, line);
    return told(changed);
  };
  EXPECT_NE(with("      hurry %new_pr\n").find("unknown line 'hurry' of a schedule"), std::string::npos);
  EXPECT_NE(with("      run %pr_5\n").find("names no operator of its block"), std::string::npos);
  EXPECT_NE(with("      run op 99\n").find("names no operator of its block"), std::string::npos);
  EXPECT_NE(with("      run %nothing\n").find("unknown value '%nothing'"), std::string::npos);
  EXPECT_EQ(with("      run %pr_5\n").rfind("plan.kir:", 0), 0U);
  std::string lower = text;
  lower.replace(lower.find("level 4"), 7, "level 3");
  EXPECT_NE(told(lower).find("below level 4"), std::string::npos);
}

}  // namespace
}  // namespace kasen
