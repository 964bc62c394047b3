// Plans that name layouts run over meshes of workers: random modules give the interpreter's values, with interpreted
// and generated kernels, and every counter is what was predicted.
#include <gtest/gtest.h>

#include "libopt/cost/worker_traffic.h"
#include "libopt/optimize/optimize.h"
#include "tests/core/mesh_module.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/counting_transport.h"

namespace kasen {
namespace {

using testing::RandomModule;

void expect_values(const Module& module, const RunResult& result, const std::map<std::string, Array>& wanted) {
  for (const Output& output : result.outputs) {
    const Array got = testing::joined_from_mesh(module, output);
    const Array& right = wanted.at(output.name);
    ASSERT_EQ(got.count, right.count) << output.name;
    for (std::int64_t i = 0; i < got.count; ++i) {
      ASSERT_TRUE(testing::are_same(got.as<double>()[i], right.as<double>()[i]))
          << output.name << '[' << i << "] " << got.as<double>()[i] << ", not " << right.as<double>()[i];
    }
  }
}

// Whether data decide what some operator moves: what is predicted is a bound.
bool data_decide(const Module& module) {
  bool some = false;
  for_each_op(module,
              [&](const Op& op, int, int) { some = some || picks_on_the_way(module, op) || sorts_across(module, op); });
  return some;
}

void expect_traffic(const std::vector<std::int64_t>& counted, const std::vector<std::int64_t>& predicted, bool exact) {
  ASSERT_EQ(counted.size(), predicted.size());
  for (size_t w = 0; w < counted.size(); ++w) {
    EXPECT_LE(counted[w], predicted[w]) << w;
    EXPECT_TRUE(!exact || counted[w] == predicted[w]) << w;
  }
}

// Operators over one box become regions. What nobody needs goes first, as in all plans.
Module fused(const Module& module) {
  TrialLawChecker laws;
  return run_passes(module, laws, {}, {"dead-code", "fuse-vector", "buffers"});
}

// Returns the number of regions that ran.
int run_one(std::uint64_t seed, bool generated) {
  RandomModule random(seed);
  random.make_program();
  const Module made = parse_module(print_module(random.module()), "random.kir");  // without values that nobody makes
  const Module module = seed % 2 == 0 ? fused(made) : made;
  SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << print_module(module));
  const WholeInputs whole = testing::whole_of(random);
  Module most = module;
  derive_sizes(most.dims, "these sizes");  // picked ones as far as they go
  std::vector<Part> parts = testing::split_over_mesh(most, whole.arrays);
  testing::CountingTransport transport(make_simulated_transport(mesh_workers(module)), true);
  const auto kernels = generated ? testing::make_kernels({.threads = 2}) : nullptr;
  const auto interpreter = make_interpreter_kernels();
  try {
    const RunResult result = execute(module, parts, transport, generated ? *kernels : *interpreter, {});
    const Module found = with_found_sizes(module, parts, result);
    expect_values(found, result, interpret(made, whole));
    expect_counts(found, parts, result, generated ? "generated" : "interpreter");
    const auto predicted = worker_traffic(found, sizes_from_parts(found, parts), [](int) { return 1; });
    if (!predicted) throw InternalError("traffic that is not known");
    expect_traffic(transport.sent, predicted->sent, !data_decide(found));
    expect_traffic(transport.received, predicted->received, !data_decide(found));
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  int regions = 0;
  for_each_op(module, [&](const Op& op, int, int) { regions += op.code == OpCode::region ? 1 : 0; });
  return regions;
}

TEST(MeshRuns, RandomModulesGiveWhatWasPredicted) {
  int regions = 0;
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    regions += run_one(seed, seed % 10 == 0);
  }
  EXPECT_GT(regions, 20);
}

TEST(LongMeshRuns, RandomModulesGiveWhatWasPredicted) {
  for (std::uint64_t seed = 1; seed <= 3000 && !::testing::Test::HasFailure(); ++seed)
    (void)run_one(seed * 7907, seed % 3 == 0);
}

}  // namespace
}  // namespace kasen
