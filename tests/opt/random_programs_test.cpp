// What the generators of random programs are relied on to make: nested control, likely conditions that turn out false,
// several matrices and dimensions, tuples; and that plans of such programs move statements.
#include <gtest/gtest.h>

#include <set>

#include "libopt/sync/ahead.h"
#include "tests/opt/outlined_program.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/random_program.h"
#include "tests/support/module_shape.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

// In how many programs each thing is found.
struct Found {
  int loop_in_loop = 0, branch_in_loop = 0, likely_branch = 0, likely_while = 0, branch_not_taken = 0, branch_taken = 0,
      tuples = 0, matrices = 0, dimensions = 0, before_branch = 0, turn_ahead = 0;
};

int depth_of(const Block& block, bool loop) {
  int deepest = 0;
  for (const Op& op : block.ops) {
    const bool counts =
        loop ? op.code == OpCode::while_loop || op.code == OpCode::for_loop : op.code == OpCode::if_else;
    for (const Block& inner : op.blocks) deepest = std::max(deepest, depth_of(inner, loop) + (counts ? 1 : 0));
  }
  return deepest;
}

void look_at_text(const Module& program, Found& found) {
  std::set<ValueId> matrices;
  std::set<DimId> made;
  bool branch = false, loop = false, tuple = false, in_loop = false;
  for_each_op(program, [&](const Op& op, int, int depth) {
    branch = branch || (op.code == OpCode::if_else && op.likely);
    in_loop = in_loop || (op.code == OpCode::if_else && depth > 0);
    loop = loop || (op.code == OpCode::while_loop && op.likely);
    if (op.code == OpCode::map) tuple = tuple || program.type(op.results[0]).element.tuple;
    if (row(op.code).group != OpGroup::product) return;
    matrices.insert(op.operands[1]);
    made.insert(program.type(op.results[0]).dims[0]);
  });
  found.loop_in_loop += depth_of(program.body, true) > 1 ? 1 : 0;
  found.branch_in_loop += in_loop ? 1 : 0;
  found.likely_branch += branch ? 1 : 0;
  found.likely_while += loop ? 1 : 0;
  found.tuples += tuple ? 1 : 0;
  found.matrices += matrices.size() > 1 ? 1 : 0;
  found.dimensions += made.size() > 1 ? 1 : 0;
}

// What a likely branch holds first ran less often than its `if`.
void look_at_run(const Module& program, std::uint64_t seed, Found& found) {
  const Module made = plan(program, Strategy::none, SyncMode::hybrid);
  const RunResult result = testing::run_simulated(made, testing::split(testing::random_data(program, 2, 17, 40, seed)));
  bool taken = false, not_taken = false;
  for_each_op(made, [&](const Op& op, int number, int) {
    if (op.code != OpCode::if_else || !op.likely || op.blocks[0].ops.size() < 2) return;
    const auto at = static_cast<size_t>(number);
    taken = taken || result.ops[at + 1].executions > 0;
    not_taken = not_taken || result.ops[at + 1].executions < result.ops[at].executions;
  });
  found.branch_taken += taken ? 1 : 0;
  found.branch_not_taken += not_taken ? 1 : 0;
}

void look_at_plan(const Module& program, Found& found) {
  const Module made = plan(program, Strategy::greedy, SyncMode::hybrid);
  const IdMap<ValueId, const Op*> ahead = made_ahead(made);
  bool before = false, iteration = false;
  for_each_op(made, [&](const Op& op, int, int) {
    if (!op.speculated) return;
    (ahead[op.results[0]] != nullptr ? before : iteration) = true;
  });
  found.before_branch += before ? 1 : 0;
  found.turn_ahead += iteration ? 1 : 0;
}

template <class Make>
Found look(const Make& make) {
  Found found;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    const Module program = make(seed);
    look_at_text(program, found);
    look_at_run(program, seed, found);
    look_at_plan(program, found);
  }
  return found;
}

void expect_enough(const Found& found) {
  EXPECT_GT(found.loop_in_loop, 10);
  EXPECT_GT(found.branch_in_loop, 10);
  EXPECT_GT(found.likely_branch, 20);
  EXPECT_GT(found.likely_while, 15);
  EXPECT_GT(found.branch_taken, 10);
  EXPECT_GT(found.branch_not_taken, 8);
  EXPECT_GT(found.tuples, 20);
  EXPECT_GT(found.matrices, 20);
  EXPECT_GT(found.dimensions, 20);
  EXPECT_GT(found.before_branch, 0);
  EXPECT_GT(found.turn_ahead, 0);
}

TEST(RandomPrograms, OfFloatsHoldWhatTheyShould) {
  expect_enough(look([](std::uint64_t seed) { return compile(testing::random_program(seed)); }));
}

TEST(RandomPrograms, OfIntegersHoldWhatTheyShould) {
  expect_enough(
      look([](std::uint64_t seed) { return testing::RandomProgram(seed).make(4 + static_cast<int>(seed % 16)); }));
}

// Statements in functions of their own make the same IR.
TEST(RandomPrograms, FunctionsAreWhatTheirBodiesAre) {
  int functions = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string text = testing::random_program(seed);
    testing::Outliner outliner(text, seed);
    const std::string outlined = outliner.write();
    functions += outliner.functions();
    ASSERT_EQ(shape(compile(outlined)), shape(compile(text))) << text << '\n' << outlined;
  }
  EXPECT_GT(functions, 3000);
}

}  // namespace
}  // namespace kasen
