// The executor over meshes of workers: random modules of all layouts give the values of the interpreter.
#include <gtest/gtest.h>

#include "libcore/laws/laws.h"
#include "libcore/run/executor.h"
#include "libcore/schedule/schedule.h"
#include "tests/core/mesh_module.h"
#include "tests/core/mesh_parts.h"

namespace kasen {
namespace {

using testing::RandomModule;

// The module with its schedule, read back from its text.
Module with_schedule(Module module) {
  static TrialLawChecker laws;
  write_schedule(module);
  module.level = 4;
  Module read = parse_module(print_module(module), "mesh.kir");
  EXPECT_EQ(print_module(read), print_module(module));
  for (const Diagnostic& fault : verify_module(read, laws)) ADD_FAILURE() << format_diagnostic(fault);
  return read;
}

void run_one(std::uint64_t seed) {
  RandomModule random(seed);
  random.make_program();
  SCOPED_TRACE(print_module(random.module()));
  const Module module = seed % 3 == 0 ? with_schedule(random.module()) : random.module();
  const WholeInputs whole = whole_of(random);
  const auto wanted = interpret(module, whole);
  Module sized = module;  // read back, it does not say how many elements a mask picks
  derive_sizes(sized.dims, "these sizes");
  const std::vector<Part> parts = testing::split_over_mesh(sized, whole.arrays);
  const auto transport = make_simulated_transport(mesh_workers(module));
  const auto kernels = make_interpreter_kernels();
  try {
    const RunResult result = execute(module, parts, *transport, *kernels, {});
    for (const ObservedSize& found : result.observed) sized.dims[sized.find_dim(found.dim)].size = found.size;
    for (const Output& output : result.outputs) {
      const Array got = testing::joined_from_mesh(sized, output);
      const Array& right = wanted.at(output.name);
      ASSERT_EQ(got.count, right.count) << output.name;
      for (std::int64_t i = 0; i < got.count; ++i) {
        EXPECT_TRUE(testing::are_same(got.as<double>()[i], right.as<double>()[i]))
            << output.name << '[' << i << "] " << got.as<double>()[i] << ", not " << right.as<double>()[i];
      }
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(MeshExecutor, RandomModulesEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 2000 && !::testing::Test::HasFailure(); ++seed) run_one(seed);
}

TEST(LongMeshExecutor, RandomModulesEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 50000 && !::testing::Test::HasFailure(); ++seed) run_one(seed * 7919);
}

}  // namespace
}  // namespace kasen
