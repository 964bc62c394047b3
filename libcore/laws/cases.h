// Deciding laws by their cases, without a solver: on each path through conditions, signs and extrema both sides are
// rational functions of the variables, and equal if they multiply out to the same.
#pragma once

#include "libcore/laws/trial.h"

namespace kasen {

// Undecided says nothing: the law may not hold, or the cases are too many, or it takes more than arithmetic to see (exp
// and the like are taken for unknown functions, of which some bounds and that exp and log undo each other are known,
// and that equal arguments give equal values; conditions are compared as linear ones).
enum class ByCases : std::uint8_t {
  undecided,
  of_numbers,  // a map's law holds of all numbers, but it is open what the map makes of the reducer's identity
  holds,  // where both sides are defined, and also where one argument is the reducer's identity (DESIGN section 4);
          // LawKind::identity: what reducer_identity finds is one
};

// The functions' types fit (law_misfit is empty).
[[nodiscard]] ByCases law_by_cases(const LawQuestion& question);

}  // namespace kasen
