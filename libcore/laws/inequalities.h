// Decides whether linear inequalities over the rationals contradict one another (Fourier-Motzkin elimination).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/scalar/exact.h"

namespace kasen {

struct Inequality {  // the sum of the terms and the constant is > 0, or >= 0 if not strict
  std::vector<std::pair<int, std::int64_t>> terms;  // by unknown, ascending; no zero coefficients
  std::int64_t constant = 0;
  bool strict = false;
};

// The same with integer coefficients; empty if those do not fit into 64 bits.
[[nodiscard]] std::optional<Inequality> make_inequality(const std::vector<std::pair<int, Rational>>& terms,
                                                        const Rational& constant, bool strict);

// True only if no numbers satisfy all of them. Also false if elimination would make some hundreds of inequalities, or
// coefficients of more than 64 bits. Adds the number of inequalities made to `steps`.
[[nodiscard]] bool contradictory(std::vector<Inequality> all, size_t& steps);

}  // namespace kasen
