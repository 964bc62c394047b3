// Laws of scalar functions (DESIGN section 4), behind a small interface: exact-rational trial here, Z3 in libopt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

enum class Verdict : std::uint8_t { proven, refuted, unknown };

struct LawAnswer {
  Verdict verdict = Verdict::unknown;
  std::string basis;           // "trial", "built-in", "proven", "assumed"
  std::string counterexample;  // in the user's names, when refuted: "f(f(1, 2), 3) = -4 but f(1, f(2, 3)) = 2"
  std::string note;            // why not, when unknown
};

class LawChecker {
 public:
  virtual ~LawChecker() = default;
  // Does fn, with operand `operand` pre-reduced by `reducer`, obey the law (rules 10, 11, 14, 15)? The parameters'
  // declared ranges count. Of laws of reducers (associative, ...) fn is the reducer; `by` and `operand` do not count.
  [[nodiscard]] virtual LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) = 0;
  // Is the reducer associative and commutative? The weaker of both answers.
  [[nodiscard]] LawAnswer reducer(const Module& module, FnId fn);
};

// The answers that a checker has given, by what was asked: functions by their content, since modules come and go.
class LawMemory {
 public:
  // The answer to this question; `ask` gives it the first time. `reducer` is `fn` for laws of reducers.
  template <class Ask>
  LawAnswer answer(LawKind kind, const ScalarFunction& fn, const ScalarFunction& reducer, int operand, const Ask& ask) {
    for (const Known& k : known_) {
      if (k.kind == kind && k.operand == operand && k.fn == fn && k.reducer == reducer) return k.answer;
    }
    known_.push_back({kind, fn, reducer, operand, ask()});
    return known_.back().answer;
  }

 private:
  struct Known {
    LawKind kind;
    ScalarFunction fn, reducer;
    int operand;
    LawAnswer answer;
  };
  std::vector<Known> known_;
};

// Trial (trial.h): refutes with a counterexample that fails with the real functions, too, or finds none. Answers
// `proven` for shapes that it knows (shapes.h; basis "built-in"), for maps on bools of which it has tried every
// case, and for reducers that it can evaluate exactly (basis "trial"). Remembers its answers.
class TrialLawChecker : public LawChecker {
 public:
  static constexpr std::int64_t all_points = 1024;
  explicit TrialLawChecker(std::int64_t most_points = all_points) : most_points_(most_points) {}
  [[nodiscard]] LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) override;

 private:
  std::int64_t most_points_;
  LawMemory known_;
};

// The identity element of a reducer, one word a plane (0 for +, +infinity for min of floats, the largest integer for
// min of integers: docs/language.md), or nothing if none of the candidates (0, 1, the infinities or extremes, by
// component) is one on the trial values. Infinite trial values decide where some candidate serves them, too.
[[nodiscard]] std::optional<std::vector<Word>> reducer_identity(const ScalarFunction& fn);

}  // namespace kasen
