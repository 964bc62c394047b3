// Kernels of equal code are one, in a plan and on disk for all plans, whatever they are called and stand beside.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libkernels/kernels.h"
#include "libkernels/make/kernel_maker.h"
#include "libkernels/run/plan_kernels.h"
#include "libopt/optimize/optimize.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

struct NoStore : CodeStore {
  [[nodiscard]] bool open() const override { return false; }
  [[nodiscard]] std::optional<std::string> find(const std::string& /*key*/) const override { return std::nullopt; }
  void keep(const std::string& /*key*/, std::string_view /*code*/) const override {}
};

Module planned(const std::string& text) {
  TrialLawChecker laws;
  return optimize(compile_program(text, "p.ks", {}), laws, {.strategy = Strategy::none});
}

struct Shared : ::testing::Test {
  cases::Folder folder;

  [[nodiscard]] std::pair<std::int64_t, std::int64_t> kernels_of(const std::string& text, int threads = 1) const {
    const auto kernels = make_generated_kernels({.threads = threads, .code_cache = folder.file("code")});
    const Module plan = planned(text);
    kernels->prepare(plan);
    return {kernels->kernels().made, kernels->kernels().kept};
  }
};

using Counts = std::pair<std::int64_t, std::int64_t>;  // made, kept

TEST_F(Shared, OnlyChangedStatementsAreCompiled) {
  const std::string before = "dim N\ninput x : f64[N]\ny = exp(x) + 1\nz = log(y) * 2\noutput y, z\n";
  EXPECT_EQ(kernels_of(before), Counts(2, 0));
  EXPECT_EQ(kernels_of(before), Counts(0, 2));
  // Another statement; another order; other names, another dimension, and a statement more.
  EXPECT_EQ(kernels_of("dim N\ninput x : f64[N]\ny = exp(x) + 1\nz = log(y) * 3\noutput y, z\n"), Counts(1, 1));
  EXPECT_EQ(kernels_of("dim N\ninput x : f64[N]\nz = log(x) * 2\ny = exp(z) + 1\noutput y, z\n"), Counts(0, 2));
  EXPECT_EQ(kernels_of("dim K, People\ninput q : bool[K], old : f64[People]\nr = !q\nnew = log(old) * 2\n"
                       "output r, new, all = sum(old)\n"),
            Counts(4, 1));
  // With more threads.
  EXPECT_EQ(kernels_of("dim M\ninput v : f64[M]\na = log(v) * 3\nb = exp(a) + 1\nc = b + a\noutput a, b, c\n", 4),
            Counts(1, 2));
}

TEST_F(Shared, AreCountedOverAllSetsThatComeFromOne) {
  const auto kernels = make_generated_kernels({.threads = 2, .code_cache = folder.file("code")});
  const Module plan = planned("dim N\ninput x : f64[N]\noutput y = sqrt(x) + 1\n");
  kernels->another()->prepare(plan);
  EXPECT_EQ(kernels->kernels().made, 1);
  kernels->on_one_thread()->prepare(plan);
  kernels->prepare(plan);
  EXPECT_EQ(kernels->kernels().made, 1);
  EXPECT_EQ(kernels->kernels().kept, 2);
  EXPECT_EQ(make_interpreter_kernels()->kernels().made, 0);
}

TEST(SharedCode, HasANameForEachKernelOfIt) {
  const Module module = parse_module(R"(kir 1 level 1
module t {
  fn add(a: f64, b: f64) -> f64 = a + b
  fn plus(x: f64, y: f64) -> f64 = x + y
  fn largest(a: f64, b: f64) -> f64 = max(a, b)
}
##end
)",
                                     "t.kir");
  const NoStore none;
  const Target target;
  const auto compiler = make_compiler(target, none);
  compiler->combine(module.fn(FnId{0}), "first");
  compiler->combine(module.fn(FnId{1}), "second");
  compiler->combine(module.fn(FnId{2}), "third");
  const CompiledPlan plan = compiler->compile(1, nullptr);
  ASSERT_EQ(plan.objects.size(), 2U);
  EXPECT_EQ(plan.made, 2);
  const CodeImage image(plan.objects);
  EXPECT_EQ(image.find("first"), image.find("second"));
  EXPECT_NE(image.find("first"), image.find("third"));
  const CombineFunction combine = reinterpret_cast<CombineFunction>(image.find("third"));
  ASSERT_NE(combine, nullptr);
  auto lacking = plan.objects;
  lacking[1].functions.push_back({"fourth", "f7"});
  EXPECT_THROW(CodeImage{lacking}, InternalError);
}

// The same key stands for the same code, after whatever pieces its compiler had before and on any number of threads.
TEST(SharedCode, IsTheSameInEveryProgram) {
  const std::filesystem::path folder = std::filesystem::path(KASEN_SOURCE_ROOT) / "examples";
  const NoStore none;
  std::map<std::string, std::string> code;
  int met_again = 0, threads = 0;
  for (const char* name :
       {"pagerank", "l2svm", "kmeans", "cg", "glm", "als", "bfs", "gaussian-mixture", "heat", "pca"}) {
    std::stringstream text;
    text << std::ifstream(folder / (std::string(name) + ".ks")).rdbuf();
    TrialLawChecker laws;
    const Module program = compile_program(text.str(), name, {});
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      const Module module = optimize(program, laws, {.strategy = strategy});
      const Target target;
      const auto compiler = make_compiler(target, none);
      PlanKernels plan{.target = target};
      plan.cached_bytes = std::int64_t{1} << 40;
      (void)ask_for_kernels(module, plan, *compiler);
      threads = threads % 3 + 1;
      for (const CompiledObject& object : compiler->compile(threads, nullptr).objects) {
        const auto [at, added] = code.emplace(object.key, object.code);
        if (added) continue;
        ++met_again;
        EXPECT_EQ(at->second, object.code) << name;
      }
    }
  }
  EXPECT_GT(met_again, 50);
  EXPECT_GT(code.size(), 50U);
}

// All in one object, whose functions have the names that the plan gives them.
TEST(SharedCode, BecomesOneObjectBesideItsText) {
  const Module module =
      planned("dim N\ninput x : f64[N]\noutput y = sin(x) + 1, z = sin(x) * sin(x + 2), s = sum(x)\n");
  const NoStore none;
  const Target target;
  const auto compiler = make_compiler(target, none);
  PlanKernels plan{.target = target};
  plan.cached_bytes = std::int64_t{1} << 40;
  const LookUp look_up = ask_for_kernels(module, plan, *compiler);
  std::string text;
  const CompiledPlan compiled = compiler->compile(1, &text);
  ASSERT_EQ(compiled.objects.size(), 1U);
  plan.code = CodeImage(compiled.objects);
  look_up();
  for (const NamedFunction& function : compiled.objects[0].functions) {
    EXPECT_EQ(function.name, function.symbol);
    EXPECT_NE(text.find(function.name + ":"), std::string::npos) << function.name;
  }
  EXPECT_GT(compiled.objects[0].functions.size(), 3U);
}

}  // namespace
}  // namespace kasen
