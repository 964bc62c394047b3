// Whether linear inequalities over the rationals contradict one another (Fourier-Motzkin elimination).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/scalar/exact.h"

namespace kasen {

struct Inequality {  // the terms' sum and the constant are more than 0, or at least 0 if not strict
  std::vector<std::pair<int, std::int64_t>> terms;  // by unknown, ascending; no zero coefficients
  std::int64_t constant = 0;
  bool strict = false;
};

// The same with whole coefficients; nothing where those do not fit into 64 bits.
[[nodiscard]] std::optional<Inequality> make_inequality(const std::vector<std::pair<int, Rational>>& terms,
                                                        const Rational& constant, bool strict);

// True only if no numbers satisfy all of them. False also where elimination would make some hundreds of them, or
// coefficients of more than 64 bits. Adds to `steps` how many it made.
[[nodiscard]] bool contradictory(std::vector<Inequality> all, size_t& steps);

}  // namespace kasen
