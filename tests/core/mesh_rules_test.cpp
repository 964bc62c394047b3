// The state rules over meshes of workers: whatever they allow, workers that have what the states say compute the
// program. Random modules of arrays of rank 0 to 3, of all layouts, on meshes of up to three axes.
#include <gtest/gtest.h>

#include "tests/core/mesh_module.h"

namespace kasen {
namespace {

using testing::MeshRun;
using testing::RandomModule;

// Stand for rules: contractions onto arrays, reductions by keys, slices and the like, reshapes that keep owners.
constexpr int onto_array = 100, by_keys = 101, rearranged = 102, moved = 103, picked = 104, carried = 105, kept = 106;

// Adds how often each rule has allowed an operator.
void try_one(std::uint64_t seed, std::map<int, int>& rules) {
  RandomModule random(seed);
  random.make_program();
  for (const auto& [rule, count] : random.rules()) rules[rule] += count;
  rules[onto_array] += random.ontos();
  rules[by_keys] += random.groups();
  rules[rearranged] += random.rearranged();
  rules[moved] += random.moved();
  rules[picked] += random.picks();
  rules[carried] += random.carried();
  rules[kept] += random.kept();
  const std::string text = print_module(random.module());
  SCOPED_TRACE(text);
  Module module = parse_module(text, "random.kir");
  EXPECT_EQ(print_module(module), text);
  for (const DimId dim : module.dims.ids()) module.dims[dim].size = random.module().dim(dim).size;  // also picked ones
  TrialLawChecker laws;
  for (const Diagnostic& fault : verify_module(module, laws)) ADD_FAILURE() << format_diagnostic(fault);
  if (::testing::Test::HasFailure()) return;
  const auto wanted = interpret(module, whole_of(random));
  try {
    const MeshRun run(module, random.inputs());
    for (const Op& op : module.body.ops) {
      if (op.code != OpCode::output) continue;
      const MeshRun::Whole got = run.value(op.operands[0]);
      const Array& right = wanted.at(op.name);
      EXPECT_EQ(static_cast<std::int64_t>(got.size()), right.count);
      const auto* numbers = reinterpret_cast<const double*>(right.plane(0));
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(testing::are_same(got[i], numbers[i]))
            << op.name << '[' << i << "] " << got[i] << ", not " << numbers[i];
    }
  } catch (const std::logic_error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(MeshRules, WhatTheyAllowComputesTheProgram) {
  std::map<int, int> rules;
  for (std::uint64_t seed = 1; seed <= 4000 && !::testing::Test::HasFailure(); ++seed) try_one(seed, rules);
  for (int rule = 1; rule <= 16; ++rule) EXPECT_GT(rules[rule], 10) << "rule " << rule;
  EXPECT_GT(rules[18], 100);
  EXPECT_GT(rules[onto_array], 100);
  EXPECT_GT(rules[by_keys], 100);
  EXPECT_GT(rules[rearranged], 100);
  EXPECT_GT(rules[moved], 100);
  EXPECT_GT(rules[picked], 100);
  EXPECT_GT(rules[carried], 100);
  EXPECT_GT(rules[kept], 10);
}

TEST(LongMeshRules, WhatTheyAllowComputesTheProgram) {
  std::map<int, int> rules;
  for (std::uint64_t seed = 1; seed <= 100000 && !::testing::Test::HasFailure(); ++seed) try_one(seed * 7919, rules);
}

}  // namespace
}  // namespace kasen
