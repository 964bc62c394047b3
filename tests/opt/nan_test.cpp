// --nan error names the same statement, turn and worker whatever was fused: random programs in which roots and infinite
// products make NaN that is mostly swallowed by what follows, each plan beside the one that fuses nothing.
// KASEN_SEED=n runs one program, KASEN_PROGRAMS=n so many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "libopt/optimize/strategies.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/random_program.h"
#include "tests/support/generated.h"

namespace kasen {
namespace {

class NanWriter {
 public:
  explicit NanWriter(std::uint64_t seed) : random_(seed) {}

  // Behind some statements of the program one that may make NaN, and one that reads it.
  std::string write(const std::string& program) {
    std::istringstream lines(program);
    std::string text;
    bool begun = false;
    for (std::string line; std::getline(lines, line);) {
      text += line + '\n';
      begun = begun || line.rfind("list", 0) == 0;
      if (begun && line.back() != '{' && pick(4) == 0) text += fault(line.substr(0, line.find_first_not_of(' ')));
    }
    const size_t end = text.find("output");
    return text.substr(0, text.find('\n', end) + 1);
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  std::string vector() { return "v" + std::to_string(pick(4)); }

  std::string maker() {
    const std::string bound = std::to_string(pick(40) - 8) + " / 10";
    switch (pick(4)) {
      case 0:
        return "log(" + vector() + " + " + bound + ")";
      case 1:
        return "(" + std::string(pick(2) == 0 ? "H' @ " : "G @ ") + vector() + ") * (1 / max(s0 - " + bound + ", 0.0))";
      default:
        return "sqrt(" + bound + " - " + vector() + ")";
    }
  }

  std::string reader(const std::string& n) {
    const std::string v = vector();
    switch (pick(4)) {
      case 0:
        return "s1 = tanh(sum(if " + n + " > 0.5 then 1.0 else 0.0) / 16)";
      case 1:
        return v + " = max(min(" + n + ", 3.0), -3.0)";
      default:
        return v + " = if " + n + " > 0.3 then 0.5 * " + v + " else " + v;
    }
  }

  std::string fault(const std::string& indent) {
    const std::string n = "n" + std::to_string(count_++);
    return indent + n + " = " + maker() + '\n' + indent + reader(n) + '\n';
  }

  std::mt19937_64 random_;
  int count_ = 0;
};

// "12 in iteration 3 on worker 1", of the first NaN; empty where the run goes on to its end.
std::string first_nan(const Module& module, const std::vector<Part>& parts, KernelSet& kernels) {
  RunOptions options;
  options.refuse_nan = true;
  try {
    (void)execute(module, parts, *make_simulated_transport(static_cast<int>(parts.size())), kernels, options);
  } catch (const UserError& e) {
    const Diagnostic& d = e.diagnostics().at(0);
    std::smatch iteration, worker;
    EXPECT_EQ(e.status(), ExitStatus::check_failed) << e.what();
    std::regex_search(d.what, iteration, std::regex("in iteration [0-9.]+"));
    EXPECT_TRUE(std::regex_search(d.what, worker, std::regex("worker [0-9]+"))) << d.what;
    return std::to_string(d.where.line) + ' ' + iteration.str() + " on " + worker.str();
  }
  return {};
}

Module plan_in_place(const Module& program, Strategy strategy, SyncMode sync, bool epilogue) {
  static TrialLawChecker laws;  // remembers its answers
  OptimizeOptions options;
  options.strategy = strategy;
  options.sync = sync;
  options.epilogue = epilogue;
  options.move_statements = false;
  return optimize(program, laws, options);
}

struct Tally {
  int programs = 0, nan = 0;
};

// Of one program, over several workers.
void check(const std::string& text, std::uint64_t seed, Tally& tally) {
  const Module program = compile(text);
  const std::vector<Part> parts =
      testing::split(testing::random_data(program, static_cast<int>(seed % 3) * 2 + 1, 17, 40, seed));
  for (const SyncMode sync : {SyncMode::hybrid, SyncMode::lazy}) {
    std::string wanted;
    for (const Strategy strategy : plan_strategies) {
      for (const bool epilogue : {false, true}) {
        if (epilogue && (strategy == Strategy::none || sync == SyncMode::lazy)) continue;
        SCOPED_TRACE(std::string(strategy_name(strategy)) + (sync == SyncMode::lazy ? " lazy" : " hybrid") +
                     (epilogue ? " epilogue" : "") + ", seed " + std::to_string(seed));
        const Module made = plan_in_place(program, strategy, sync, epilogue);
        const std::string found = first_nan(made, parts, *make_interpreter_kernels());
        if (strategy == Strategy::none) wanted = found;
        EXPECT_EQ(found, wanted) << text << print_module(made);
        const bool generate = (seed + static_cast<std::uint64_t>(strategy)) % 5 == 0;
        if (generate) {
          EXPECT_EQ(first_nan(made, parts, *testing::make_kernels({.threads = 2})), wanted);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
    tally.nan += wanted.empty() ? 0 : 1;
    ++tally.programs;
  }
}

void check(std::uint64_t first, std::uint64_t count) {
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    check(NanWriter(seed).write(testing::random_program(seed)), seed, tally);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(3 * tally.nan, count > 5 ? tally.programs : 0);  // else nothing is looked for
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(FirstNan, IsThatOfThePlanThatFusesNothing) {
  const std::uint64_t one = from_environment("KASEN_SEED", 0);
  check(one > 0 ? one : 1, one > 0 ? 1 : from_environment("KASEN_PROGRAMS", 10));
}

class LongFirstNan : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Long, LongFirstNan, ::testing::Range(0, 20));

TEST_P(LongFirstNan, IsThatOfThePlanThatFusesNothing) { check(static_cast<std::uint64_t>(GetParam()) * 20 + 1, 20); }

}  // namespace
}  // namespace kasen
