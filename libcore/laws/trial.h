// Laws on trial values. Both sides are compositions of the real functions, evaluated as the machine does and exactly.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/laws/laws.h"
#include "libcore/scalar/exact.h"

namespace kasen {

// For laws of reducers `reducer` is fn itself; `operand` counts only for laws of maps.
struct LawQuestion {
  LawKind kind;
  const ScalarFunction& fn;
  const ScalarFunction& reducer;
  size_t operand = 0;
};

[[nodiscard]] inline bool is_map_law(LawKind kind) {
  return kind == LawKind::exchange || kind == LawKind::pushdown || kind == LawKind::distributive;
}

// One side of a law: a variable, or a function of sides.
struct LawSide {
  const ScalarFunction* fn = nullptr;
  std::vector<LawSide> args;
  size_t variable = 0;
};
struct LawEquation {
  LawSide left, right;
};

// The mismatch between the functions' types; empty if they fit.
[[nodiscard]] std::string law_misfit(const LawQuestion& question);
// The variables of a law whose types fit. For maps they are the function's parameters (the pre-reduced one stands for
// the first contribution) and the second contribution. For reducers they are as many elements as the law needs, in the
// range that the reducer declares.
[[nodiscard]] std::vector<ScalarParam> law_variables(const LawQuestion& question);
[[nodiscard]] std::vector<LawEquation> law_equations(const LawQuestion& question);

// The counterexample to the law at these values of its variables, in the user's names: "f(f(1, 2), 3) = -4 but ...".
// Empty if there is none: the sides agree, one is undefined, or they differ by no more than rounding.
[[nodiscard]] std::string law_fault(const LawQuestion& question, std::span<const Planes> at);
// The reason why a map's law that holds for all numbers is of no use, or empty. Workers without a contribution hold the
// reducer's identity e. The map's result for e must not be noticed (DESIGN section 4): F(b) = R(F(e), F(b)), or for a
// pushdown R(F(e), b), as the machine computes. Or there is no e. At most `most` small values are tried.
[[nodiscard]] std::string identity_noticed(const LawQuestion& question, std::int64_t most);
[[nodiscard]] std::string identity_noticed_text(const LawQuestion& question);
// The first counterexample in a fixed set of small values, at most `most` of them.
[[nodiscard]] std::string try_law(const LawQuestion& question, std::int64_t most);

}  // namespace kasen
