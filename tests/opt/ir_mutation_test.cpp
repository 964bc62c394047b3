// IR changed at random: refused with its line, or it reads back as it is written; and what the verifier accepts runs on
// simulated workers to what the plain interpreter says, which knows neither states, regions nor buffers; so does the
// plan that the passes make of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "libopt/cost/sizes.h"
#include "tests/opt/plan_support.h"
#include "tests/support/bounded_run.h"
#include "tests/support/mutate.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;
using testing::Mutator;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> files_in(const std::string& folder, const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The examples as programs and as plans, placed in each way, and the verifier's golden files.
std::vector<std::string> valid_texts() {
  std::vector<std::string> texts;
  for (const fs::path& path : files_in(KASEN_ROOT "/tests/core/golden", ".kir")) texts.push_back(content(path));
  for (const fs::path& path : files_in(KASEN_ROOT "/examples", ".ks")) {
    const Module program = compile_program(content(path), path.filename().string(), {});
    texts.push_back(print_module(program));
    if (texts.back().size() > 20000) continue;  // of large programs one plan would take all the time
    texts.push_back(print_module(plan(program, Strategy::none, SyncMode::eager)));
    texts.push_back(print_module(plan(program, Strategy::greedy, SyncMode::hybrid)));
    texts.push_back(print_module(plan(program, Strategy::greedy, SyncMode::lazy)));
    OptimizeOptions scheduling;
    scheduling.schedule = true;
    scheduling.epilogue = texts.size() % 2 == 0;
    TrialLawChecker laws;
    texts.push_back(print_module(optimize(program, laws, scheduling)));
  }
  return texts;
}

class Trials {
 public:
  int tried = 0, parsed = 0, accepted = 0, ended = 0, planned = 0;

  void judge(const std::string& text) {
    ++tried;
    Module module;
    try {
      module = parse_module(text, "mutated.kir");
    } catch (const UserError& error) {
      EXPECT_GT(error.diagnostics().at(0).where.line, 0) << error.what() << '\n' << text;
      return;
    }
    ++parsed;
    const std::string printed = print_module(module);
    EXPECT_EQ(print_module(parse_module(printed, "printed.kir")), printed);
    const auto faults = verify_module(module, laws_);
    for (const Diagnostic& fault : faults) EXPECT_FALSE(fault.what.empty());
    if (!faults.empty()) return;
    ++accepted;
    if (names_layouts(module)) return;  // verified alone
    try {
      EXPECT_FALSE(measure(module).rows.empty());
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::limit) << text;  // costs beyond 64 bits
      return;
    }
    if (!testing::is_small(module)) return;
    try {
      if (module.level >= 2 && run(module, module, text)) ++ended;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << '\n' << text;
    }
    if (module.level <= 2) plan(module, text);
  }

 private:
  // Whether it ran to its end.
  bool run(const Module& plan, const Module& program, const std::string& text) {
    const testing::BoundedRun run = testing::run_bounded(plan, program, 3, {.steps = 2000, .seed = 5});
    if (!run.ended) return false;
    for (const std::string& name : run.wrong)
      ADD_FAILURE() << name << " is wrong:\n" << text << "\nplanned as:\n" << print_module(plan, false);
    return true;
  }

  // One way of planning after the other. What the passes make obeys the rules (they are asked after each), runs to what
  // the changed program means, and a UserError is all that they may throw.
  void plan(const Module& program, const std::string& text) {
    const auto choice = static_cast<size_t>(accepted);
    OptimizeOptions options;
    options.strategy = strategies.at(choice % strategies.size());
    options.sync = syncs.at(choice / strategies.size() % syncs.size());
    options.epilogue = choice / (strategies.size() * syncs.size()) % 2 == 0;
    const auto reported = [&] {
      return fmt::format("by {} and {}:\n{}", choice % strategies.size(), static_cast<int>(options.sync), text);
    };
    try {
      const Module made = optimize(program, laws_, options);
      EXPECT_EQ(made.level, 3) << reported();
      if (run(made, program, reported())) ++planned;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.diagnostics().empty()) << reported();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << '\n' << reported();
    }
  }

  static constexpr std::array strategies{Strategy::none,     Strategy::greedy,
                                         Strategy::fuse_all, Strategy::fuse_no_redundancy,
                                         Strategy::mpskip,   Strategy::cost};
  static constexpr std::array syncs{SyncMode::lazy, SyncMode::eager, SyncMode::hybrid, SyncMode::automatic};

  TrialLawChecker laws_;
};

void try_all(int trials, std::uint64_t seed) {
  const std::vector<std::string> texts = valid_texts();
  Mutator mutator(seed);
  Trials all;
  for (int trial = 0; trial < trials && !::testing::Test::HasFailure(); ++trial)
    all.judge(mutator.change(texts[mutator.below(texts.size())]));
  std::printf("%d tried, %d parsed, %d accepted, %d ran to their end, %d planned again did\n", all.tried, all.parsed,
              all.accepted, all.ended, all.planned);
  EXPECT_GT(all.parsed, trials / 10);
  EXPECT_GT(all.ended, trials / 100);
  EXPECT_GT(all.planned, trials / 100);
}

// The verifier knows that each value fits its own buffer; that a loop can exchange two is seen when data are there.
TEST(IrMutation, BuffersThatCannotBeExchangedAreRefused) {
  std::string text = print_module(plan(example("personalized.ks"), Strategy::none, SyncMode::eager));
  const std::string right = "buffer ~b12 : f64[N] {G.rows} {G.cols}", wrong = "buffer ~b12 : f64[N] {G.rows} {G.rows}";
  const size_t at = text.find(right);
  ASSERT_NE(at, std::string::npos) << text;
  const Module whole = parse_module(text, "plan.kir");
  EXPECT_TRUE(testing::run_bounded(whole, whole, 3, {.steps = 2000, .seed = 5}).ended);
  const Module changed = parse_module(text.replace(at, right.size(), wrong), "plan.kir");
  TrialLawChecker laws;
  require_valid(changed, laws);
  const testing::BoundedRun run = testing::run_bounded(changed, changed, 3, {.steps = 2000, .seed = 5});
  EXPECT_NE(run.refusal.find("differ in size"), std::string::npos) << run.refusal;
}

// Numbers in which the last bits of the data grow are no evidence against a plan; all others are.
TEST(IrMutation, RoundingDecidesInSomeOutputs) {
  const Module program = compile_program(
      "dim N\ninput x : f64[N]\nwild = sum(x) / 100\nfor i in 0..100 { wild = 3.9 * wild * (1 - wild) }\n"
      "times = i64(1000 * wild)\ntame = sum(x)\noutput times, tame\n",
      "wild", {});
  testing::TestData data = testing::exact_data(program, 2, 1);
  std::map<std::string, std::vector<Word>> wanted;
  for (const auto& [name, array] : interpret(program, whole_inputs(testing::split(data))))
    wanted[name] = testing::words_of(array);
  EXPECT_EQ(testing::left_to_rounding(program, data, wanted), std::set<std::string>{"times"});
}

// --sizes: numbers of the user's.
TEST(IrMutation, SizesAreRefusedOrRead) {
  const Module module = example("pagerank.ks");
  Mutator mutator(3);
  int read = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string text = mutator.change("N=1e9,S=2_000,nnz=8000,P=4,trips=20");
    try {
      for (const auto& [symbol, number] : parse_sizes(module, text).totals) EXPECT_GE(number, 0) << text;
      ++read;
    } catch (const UserError& error) {
      EXPECT_TRUE(error.status() == ExitStatus::usage || error.status() == ExitStatus::limit) << text;
    }
  }
  EXPECT_GT(read, 100);
}

TEST(IrMutation, IsRefusedOrRunsToTheSame) { try_all(3000, 1); }

TEST(LongIrMutation, IsRefusedOrRunsToTheSame) { try_all(200000, 2); }

}  // namespace
}  // namespace kasen
