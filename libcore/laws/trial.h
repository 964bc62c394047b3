// Trying laws on values: both sides as compositions of the real functions, evaluated as the machine does and exactly.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/laws/laws.h"
#include "libcore/scalar/exact.h"

namespace kasen {

// `reducer` is fn itself for laws of reducers; operand counts for laws of maps alone.
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

// What the functions' types have to do with each other; empty if they fit.
[[nodiscard]] std::string law_misfit(const LawQuestion& question);
// The variables of a law whose types fit: for maps the function's parameters (the pre-reduced one stands for the first
// contribution) and the second contribution; for reducers as many elements as the law needs, in the range that the
// reducer declares.
[[nodiscard]] std::vector<ScalarParam> law_variables(const LawQuestion& question);
[[nodiscard]] std::vector<LawEquation> law_equations(const LawQuestion& question);

// What speaks against the law at these values of its variables, in the user's names: "f(f(1, 2), 3) = -4 but ...".
// Empty if nothing does: the sides agree, one is not defined, or they differ by no more than rounding.
[[nodiscard]] std::string law_fault(const LawQuestion& question, std::span<const Planes> at);
// Why a map's law that holds of all numbers is of no use: what the map makes of the identity e of its reducer, which
// workers without a contribution hold, is noticed (DESIGN section 4: F(b) = R(F(e), F(b)), or for a pushdown R(F(e),
// b), as the machine computes), or there is none. Empty if nothing is noticed beside small values, at most so many.
[[nodiscard]] std::string identity_noticed(const LawQuestion& question, std::int64_t most);
[[nodiscard]] std::string identity_noticed_text(const LawQuestion& question);
// The first fault on a fixed set of small values, at most so many.
[[nodiscard]] std::string try_law(const LawQuestion& question, std::int64_t most);

}  // namespace kasen
