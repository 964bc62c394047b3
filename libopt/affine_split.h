// The split of x -> offset + slope * x into a map that exchanges with + and one that is pushed down into it, so that a
// pre-reduced sum stays so (DESIGN section 4: PageRank's damping obeys neither law as a whole).
#pragma once

#include <optional>
#include <vector>

#include "libcore/module.h"

namespace kasen {

struct AffineHalves {
  // slope * x; parameters: `scaled_from` names, for each, the parameter of the whole function
  ScalarFunction scale;
  std::vector<int> scale_from;
  // x + offset, likewise; its parameter 0 stands for the first half's result and has -1 in `shift_from`
  ScalarFunction shift;
  std::vector<int> shift_from;
};

// Nothing if the function is not affine in the parameter, or is one of the halves already.
[[nodiscard]] std::optional<AffineHalves> split_affine(const ScalarFunction& fn, int param);

}  // namespace kasen
