/// \file
/// Laws of scalar functions (DESIGN section 4), behind a small interface: exact-rational trial here, Z3 in libopt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

enum class Verdict : std::uint8_t { proven, refuted, unknown };

struct LawAnswer {
  Verdict verdict = Verdict::unknown;
  std::string basis;           ///< "trial", "built-in", "proven", "assumed"
  std::string counterexample;  ///< in the user's names, when refuted: "f(f(1, 2), 3) = -4 but f(1, f(2, 3)) = 2"
  std::string note;            ///< the reason, when unknown
};

class LawChecker {
 public:
  virtual ~LawChecker() = default;
  /// Checks whether fn, with operand `operand` pre-reduced by `reducer`, obeys the law (rules 10, 11, 14, 15). Declared
  /// ranges of the parameters count. For laws of reducers (associative, ...) fn is the reducer, without `by` and
  /// `operand`.
  [[nodiscard]] virtual LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) = 0;
  /// Checks that the reducer is associative and commutative. Returns the weaker of both answers.
  [[nodiscard]] LawAnswer reducer(const Module& module, FnId fn);
};

/// The answers of a checker, by question. Functions are compared by content, since modules come and go.
class LawMemory {
 public:
  /// The answer to this question; `ask` gives it the first time. `reducer` is `fn` for laws of reducers.
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

/// Checks laws by trial (trial.h): it finds a counterexample that also fails with the real functions, or none. It
/// answers `proven` for known shapes (shapes.h; basis "built-in"). It also does so for maps on bools if every case was
/// tried, and for reducers that it can evaluate exactly (basis "trial"). It caches its answers.
class TrialLawChecker : public LawChecker {
 public:
  static constexpr std::int64_t all_points = 1024;
  explicit TrialLawChecker(std::int64_t most_points = all_points) : most_points_(most_points) {}
  [[nodiscard]] LawAnswer law(const Module& module, LawKind kind, FnId fn, FnId by, int operand) override;

 private:
  std::int64_t most_points_;
  LawMemory known_;
};

/// The identity element of a reducer, one word a plane: 0 for +, +infinity for min of floats, the largest integer for
/// min of integers (docs/language.md). The candidates are 0, 1, and the infinities or extremes, for each component.
/// Empty if none of them is an identity on the trial values. Infinite trial values decide if they leave a candidate.
[[nodiscard]] std::optional<std::vector<Word>> reducer_identity(const ScalarFunction& fn);

}  // namespace kasen
