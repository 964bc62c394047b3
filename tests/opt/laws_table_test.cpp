// ORACLES.md, "Laws over the reals": every entry, by the prover and by the solver alone, with its verdict.
#include "libcore/laws/trial.h"
#include "libopt/prover/law_solver.h"
#include "libopt/prover/prover.h"
#include "tests/opt/law_support.h"

namespace kasen {
namespace {

struct Row {
  std::string params, body;  // the first is the pre-reduced one, unless `operand` says otherwise
  std::string exchange;      // under + * min max: 'E' proven, '-' refuted (E and D are one formula)
  std::string pushdown;      // 'P' proven (P and Q)
  size_t operand = 0;
};

// As the page has it. Where it says only that a law is not proven, '-' asserts that it is refuted.
const std::vector<Row> table = {
    {"x: f64, c: f64", "x + c", "--EE", "P---"},
    {"x: f64, c: f64 > 0.0", "c * x", "E-EE", "-P--"},
    {"x: f64, c: f64 < 0.0", "c * x", "E---", "-P--"},
    {"x: f64, c: f64", "max(x, c)", "--EE", "---P"},
    {"x: f64, y: f64", "x * y", "E---", "-P--"},
    {"x: f64, y: f64", "x + y", "--EE", "P---"},
    {"x: f64, y: f64", "x - y", "--EE", "P---"},
    {"x: f64, y: f64", "y - x", "----", "----"},
    {"x: f64, y: f64 != 0.0", "x / y", "E---", "-P--"},
    {"x: f64, y: f64", "abs(x - y)", "----", "----"},
    // Beyond the page: signs and ranges, either operand, damping, literals instead of parameters.
    {"x: f64, y: f64 > 0.0", "x * y", "E-EE", "-P--"},
    {"x: f64, y: f64 > 0.0", "x / y", "E-EE", "-P--"},
    {"y: f64, x: f64", "y - x", "----", "----", 1},
    {"y: f64, x: f64", "x - y", "--EE", "P---", 1},
    {"y: f64 > 0.0, x: f64", "x * y", "E-EE", "-P--", 1},
    {"y: f64 != 0.0, x: f64", "y / x", "----", "----", 1},
    {"x: f64, r: f64", "(1.0 - r) + r * x", "----", "----"},
    {"x: f64, r: f64 > 0.0 < 1.0", "(1.0 - r) + r * x", "--EE", "----"},
    {"x: f64", "exp(x)", "--EE", "----"},
    {"x: f64", "2.0 * exp(x) - 1.0", "--EE", "----"},
    {"x: f64", "exp(-x)", "----", "----"},
    {"x: f64", "2.0 * asinh(x) + exp2(x)", "--EE", "----"},
    {"x: f64", "exp2(x) - 1.0", "--EE", "----"},
    {"x: f64", "tanh(x) + floor(x)", "--EE", "----"},
    {"x: f64, y: f64", "if y > 0.0 then x * y else x", "E-EE", "-P--"},
};

const std::array<std::string, 4> reducers{"x + y", "x * y", "min(x, y)", "max(x, y)"};

Verdict wanted_verdict(char letter) { return letter == '-' ? Verdict::refuted : Verdict::proven; }

template <class Ask>
void check(const Row& row, const Ask& ask) {
  for (size_t r = 0; r < reducers.size(); ++r) {
    const Module m =
        functions("fn R(x: f64, y: f64) -> f64 = " + reducers[r] + "\nfn F(" + row.params + ") -> f64 = " + row.body);
    for (const LawKind kind : {LawKind::exchange, LawKind::distributive, LawKind::pushdown}) {
      const LawAnswer answer = ask(m, kind, row.operand);
      const char letter = (kind == LawKind::pushdown ? row.pushdown : row.exchange)[r];
      EXPECT_EQ(answer.verdict, wanted_verdict(letter))
          << law_name(kind) << " of " << row.body << " (" << row.params << ") over " << reducers[r] << ": "
          << answer.counterexample << answer.note;
      EXPECT_EQ(answer.counterexample.empty(), answer.verdict != Verdict::refuted);
    }
  }
}

TEST(LawsTable, ByTheProver) {
  for (const Row& row : table) {
    check(row, [](const Module& m, LawKind kind, size_t operand) {
      Prover laws;
      return laws.law(m, kind, find_fn(m, "F"), find_fn(m, "R"), static_cast<int>(operand));
    });
  }
}

TEST(LawsTable, ByTheSolverAlone) {
  prover::LawSolver solver;
  for (const Row& row : table) {
    check(row, [&](const Module& m, LawKind kind, size_t operand) {
      return solver.ask({kind, m.fn(find_fn(m, "F")), m.fn(find_fn(m, "R")), operand});
    });
  }
}

TEST(LawsTable, ProofsOfTheTrialAreProofsOfTheSolver) {
  prover::LawSolver solver;
  for (const Row& row : table) {
    for (const std::string& body : reducers) {
      const Module m =
          functions("fn R(x: f64, y: f64) -> f64 = " + body + "\nfn F(" + row.params + ") -> f64 = " + row.body);
      for (const LawKind kind : {LawKind::exchange, LawKind::pushdown}) {
        TrialLawChecker trial;
        const LawAnswer tried = trial.law(m, kind, find_fn(m, "F"), find_fn(m, "R"), static_cast<int>(row.operand));
        if (tried.verdict == Verdict::unknown) continue;
        EXPECT_EQ(solver.ask({kind, m.fn(find_fn(m, "F")), m.fn(find_fn(m, "R")), row.operand}).verdict, tried.verdict)
            << row.body << " over " << body;
      }
    }
  }
}

}  // namespace
}  // namespace kasen
