// Laws of scalar functions (DESIGN section 4), behind a small interface: exact-rational trial here, Z3 in libopt.
#pragma once

#include <optional>
#include <string>

#include "libcore/module.h"

namespace kasen {

enum class Verdict : std::uint8_t { proven, refuted, unknown };

struct LawAnswer {
  Verdict verdict = Verdict::unknown;
  std::string basis;           // "trial", "built-in", "assumed"
  std::string counterexample;  // in the user's names, when refuted: "f(f(1, 2), 3) = -4 but f(1, f(2, 3)) = 2"
};

class LawChecker {
 public:
  virtual ~LawChecker() = default;
  // Is the reducer associative and commutative? A trial that finds no counterexample answers `proven` with basis
  // "trial" for functions of polynomials, min, max and comparisons; `unknown` where it cannot evaluate exactly.
  [[nodiscard]] virtual LawAnswer reducer(const Module& module, FnId fn) = 0;
  // Does fn, with operand `operand` pre-reduced by `reducer`, obey the law (rules 10, 11, 14, 15)?
  [[nodiscard]] virtual LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId reducer, int operand) = 0;
};

// Exact-rational trial: evaluates over rationals (integers wrap never: mathematical integers), and refutes with a
// counterexample or finds none; a counterexample counts only if it fails with the real functions, too. For `law` it
// answers `proven` only on shapes that it knows (law_shapes.h; basis "built-in"). Remembers its answers.
class TrialLawChecker : public LawChecker {
 public:
  [[nodiscard]] LawAnswer reducer(const Module& module, FnId fn) override;
  [[nodiscard]] LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId reducer, int operand) override;

 private:
  struct Known {
    LawKind kind;  // associative: the question of `reducer`
    ScalarFunction fn, by;
    int operand;
    LawAnswer answer;
  };
  std::vector<Known> known_;
};

// The identity element of a reducer, one word a plane (0 for +, +infinity for min of floats, the largest integer for
// min of integers: docs/language.md), or nothing if none of the candidates (0, 1, the infinities or extremes, by
// component) is one on the trial values. Infinite trial values decide where some candidate serves them, too.
[[nodiscard]] std::optional<std::vector<Word>> reducer_identity(const ScalarFunction& fn);

}  // namespace kasen
