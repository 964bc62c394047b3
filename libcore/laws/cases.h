// Decides laws by their cases, without a solver. On each path through conditions, signs and extrema, both sides are
// rational functions of the variables. They are equal if they multiply out to the same.
#pragma once

#include "libcore/laws/trial.h"

namespace kasen {

// `undecided` says nothing: the law may not hold, the cases may be too many, or arithmetic may not suffice. Functions
// such as exp are unknown ones that give equal values for equal arguments. Some of their bounds are known, and that exp
// and log undo each other. Conditions are compared as linear ones.
enum class ByCases : std::uint8_t {
  undecided,
  of_numbers,  // a map's law holds for all numbers, but its result for the reducer's identity is open
  holds,  // where both sides are defined, and also where one argument is the reducer's identity (DESIGN section 4);
          // for LawKind::identity: the result of reducer_identity is one
};

// The functions' types fit (law_misfit is empty).
[[nodiscard]] ByCases law_by_cases(const LawQuestion& question);

}  // namespace kasen
