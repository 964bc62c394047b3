// Predicted equals counted, to the byte: every example program, placed by each mode, fused and not, over workers and
// both partitioners, run by the executor with interpreter kernels and simulated workers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/run/executor.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/run_report.h"
#include "tests/data/partition_cases.h"
#include "tests/support/generated.h"

namespace kasen {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Values between 1 and 2 in the input's own element type.
void set_values(const ElementType& element, std::int64_t count, Array& values) {
  const Scalar scalar = element.scalar();
  values = Array(ElementType::of(scalar), count);
  for (std::int64_t k = 0; k < count; ++k) {
    const Word word = is_float(scalar) ? Word::real(1 + static_cast<double>(k % 97) / 97) : Word::integer(1 + k % 3);
    store_word(scalar, values.bytes.data() + k * scalar_bytes(scalar), word);
  }
}

std::int64_t size_of(const Dimension& dim, DimId place) { return dim.size >= 0 ? dim.size : 61 - 7 * place; }

InputData make_input(const Module& module, const Op& op, unsigned seed) {
  const Type& type = module.type(op.results.at(0));
  std::vector<std::int64_t> sizes;
  InputData input{.name = op.name, .element = type.element, .sparse = type.sparse};
  for (const DimId d : type.dims) {
    input.dims.push_back(module.dim(d).name);
    sizes.push_back(size_of(module.dim(d), d));
  }
  if (type.sparse) {
    const auto edges = cases::random_edges(sizes.at(0), sizes.at(1), 300, seed);
    input = cases::pattern(op.name, input.dims.at(0), input.dims.at(1), edges);
    input.element = type.element;
    if (type.element.bytes() > 0) {
      Array values;
      set_values(type.element, static_cast<std::int64_t>(edges.size()), values);
      cases::set_values(input, values);
      input.element = type.element;
    }
    return input;
  }
  input.table.rows = sizes.empty() ? 1 : sizes[0];
  input.table.cols = type.element.planes() * (sizes.size() > 1 ? sizes[1] : 1);
  set_values(type.element, input.table.rows * input.table.cols, input.table.values);
  return input;
}

std::vector<Part> make_parts(const Module& module, int workers, PartitionMethod method) {
  std::vector<DimData> dims;
  for (const DimId d : module.dims.ids()) {
    const Dimension& dim = module.dim(d);
    dims.push_back({dim.name, dim.local, size_of(dim, d), {}});
  }
  std::vector<InputData> inputs;
  for_each_op(module, [&](const Op& op, int number, int) {
    if (op.code == OpCode::input) inputs.push_back(make_input(module, op, static_cast<unsigned>(number)));
  });
  PartitionOptions options;
  options.workers = workers;
  options.method = method;
  options.theta = 4;
  return partition(dims, std::move(inputs), options);
}

RunReport run_plan(const Module& plan, const std::vector<Part>& parts,
                   std::unique_ptr<KernelSet> kernels = make_interpreter_kernels()) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  RunReport report = make_run_report(plan, execute(plan, parts, *transport, *kernels, {}));
  report.kernels = dynamic_cast<GeneratedKernels*>(kernels.get()) != nullptr ? "generated" : "interpreter";
  return report;
}

Module named_example(const std::string& name) {
  return compile_program(text_of(EXAMPLES_DIR "/" + name + ".ks"), name + ".ks", {});
}

void expect_agreement(const Module& plan, const std::vector<Part>& parts, const std::string& what,
                      std::unique_ptr<KernelSet> kernels = make_interpreter_kernels()) {
  const RunReport run = run_plan(plan, parts, std::move(kernels));
  const Check check = check_against(plan, sizes_from_parts(plan, parts), run);
  EXPECT_TRUE(check.mismatches.empty()) << what << "\n" << check_text(plan, check);
}

struct PlanMode {
  SyncMode sync;
  Strategy strategy;
  bool epilogue = false;
};

constexpr PlanMode modes[] = {
    {SyncMode::lazy, Strategy::none},          {SyncMode::lazy, Strategy::greedy},
    {SyncMode::eager, Strategy::none},         {SyncMode::eager, Strategy::greedy},
    {SyncMode::hybrid, Strategy::none},        {SyncMode::hybrid, Strategy::greedy},
    {SyncMode::eager, Strategy::greedy, true}, {SyncMode::hybrid, Strategy::greedy, true},
};

Module plan_of(const Module& program, const PlanMode& mode) {
  static TrialLawChecker laws;
  OptimizeOptions options;
  options.sync = mode.sync;
  options.strategy = mode.strategy;
  options.epilogue = mode.epilogue;
  return optimize(program, laws, options);
}

std::string mode_text(const PlanMode& mode) {
  return fmt::format("sync {}, strategy {}{}", static_cast<int>(mode.sync), static_cast<int>(mode.strategy),
                     mode.epilogue ? ", epilogue" : "");
}

class Agreement : public ::testing::TestWithParam<std::string> {};

TEST_P(Agreement, OfPredictedAndCounted) {
  const Module program = named_example(GetParam());
  std::vector<Module> plans;
  for (const PlanMode& mode : modes) plans.push_back(plan_of(program, mode));
  for (const int workers : {1, 2, 3, 4, 16}) {
    for (const PartitionMethod method : {PartitionMethod::block, PartitionMethod::hybrid_cut, PartitionMethod::ml}) {
      if (method == PartitionMethod::ml && workers != 4) continue;
      const std::vector<Part> parts = make_parts(program, workers, method);
      for (size_t m = 0; m < plans.size(); ++m) {
        const std::string what = fmt::format("{}: {}, {} workers, method {}", GetParam(), mode_text(modes[m]), workers,
                                             static_cast<int>(method));
        ASSERT_NO_THROW(expect_agreement(plans[m], parts, what)) << what;
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Agreement, OfPredictedAndWhatGeneratedKernelsCount) {
  const Module program = named_example(GetParam());
  const std::vector<Part> parts = make_parts(program, 3, PartitionMethod::hybrid_cut);
  for (const PlanMode& mode : modes) {
    const std::string what = fmt::format("{}: {}", GetParam(), mode_text(mode));
    ASSERT_NO_THROW(expect_agreement(plan_of(program, mode), parts, what, testing::make_kernels({.threads = 2})))
        << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Agreement,
                         ::testing::Values("pagerank", "pagerank-i32", "pagerank-primitives", "blackscholes", "chain",
                                           "kmeans", "lbfgs", "logistic", "bfs", "sssp", "components", "hits"),
                         [](const auto& case_) {
                           std::string name = case_.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A check that never says no would say nothing.
class Differences : public ::testing::Test {
 protected:
  Differences() {
    TrialLawChecker laws;
    const Module program = named_example("pagerank-i32");
    plan = optimize(program, laws, {});
    parts = make_parts(program, 4, PartitionMethod::hybrid_cut);
    run = run_plan(plan, parts);
  }

  Check check() const { return check_against(plan, sizes_from_parts(plan, parts), run); }
  int number_of(OpCode code) const {
    int found = -1;
    for_each_op(plan, [&](const Op& op, int number, int) {
      if (found < 0 && op.code == code) found = number;
    });
    return found;
  }

  Module plan;
  std::vector<Part> parts;
  RunReport run;
};

TEST_F(Differences, CountersAreNotEmpty) {
  const Check right = check();
  EXPECT_TRUE(right.mismatches.empty()) << check_text(plan, right);
  for (const Compared& total : right.totals) {
    if (total.what.starts_with("bytes") || total.what == "network bytes" || total.what.starts_with("buffer")) {
      EXPECT_GT(total.counted, 0) << total.what;
    }
  }
}

TEST_F(Differences, OfWhatGeneratedKernelsHoldAreTold) {
  run = run_plan(plan, parts, testing::make_kernels({.threads = 1}));
  EXPECT_GT(run.kernel_bytes, 0);
  EXPECT_TRUE(check().mismatches.empty());
  run.kernel_bytes += 2;
  EXPECT_EQ(check().mismatches.size(), 1u);
}

TEST_F(Differences, AreToldWithTheStatement) {
  run.ops[static_cast<size_t>(number_of(OpCode::scatter))].network_bytes += 8;
  const Check wrong = check();
  ASSERT_FALSE(wrong.mismatches.empty());
  EXPECT_EQ(wrong.mismatches[0].counted, wrong.mismatches[0].predicted + 8);
  EXPECT_GT(wrong.mismatches[0].where.line, 0);
  EXPECT_NE(check_text(plan, wrong).find("pagerank-i32.ks:"), std::string::npos) << check_text(plan, wrong);
}

TEST_F(Differences, OfMemoryNameTheWorker) {
  run.parts[2].buffer_bytes += 64;
  const Check wrong = check();
  ASSERT_EQ(wrong.mismatches.size(), 2u);  // the worker's and the sum
  EXPECT_EQ(wrong.mismatches[0].what, "worker 2: buffer bytes");
}

TEST_F(Differences, OfOnePlanAreNotHeldAgainstAnother) {
  run.plan_digest = "0123456789abcdef";
  EXPECT_THROW((void)check(), UserError);
  run.plan_digest = module_digest(plan);
  run.workers = 3;
  EXPECT_THROW((void)check(), UserError);
  run.workers = 4;
  run.bundle_digest = "a";
  EXPECT_NO_THROW((void)check());
  EXPECT_THROW((void)check_against(plan, sizes_from_parts(plan, parts, "b"), run), UserError);
}

TEST_F(Differences, OfAnAllocationInsideALoopAreTold) {
  run.late_allocations = 1;
  EXPECT_FALSE(check().mismatches.empty());
}

}  // namespace
}  // namespace kasen
