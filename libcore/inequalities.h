// Whether linear inequalities over the rationals contradict one another (Fourier-Motzkin elimination).
#pragma once

#include <map>
#include <vector>

#include "libcore/exact.h"

namespace kasen {

struct Inequality {               // the terms' sum and the constant are more than 0, or at least 0 if not strict
  std::map<int, Rational> terms;  // by unknown; no zero coefficients
  Rational constant;
  bool strict = false;
};

// True only if no numbers satisfy all of them. False also where elimination would make more than some hundred of them.
// Adds to `steps` the terms that it made.
[[nodiscard]] bool contradictory(std::vector<Inequality> all, size_t& steps);

}  // namespace kasen
