// A program restricted to some indices of one dimension: what it makes of them is what it makes of all, at those
// places, where nothing brings elements of several indices together. So a few elements of a large result are computed
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libcore/reference/interpreter.h"

namespace kasen {

// Does every operator compute what it makes at an index of `dim` (no_dim: of none) from what stands at that index and
// from shareds alone? Inputs are cut along `dim` or shared, so that a worker has all that its own masters need; sums
// over it, products along it and sparse matrices are none of these.
[[nodiscard]] bool is_restrictable(const Module& module, DimId dim);

struct ChosenMaster {
  std::size_t part = 0;    // among the parts at hand
  std::int64_t place = 0;  // among its masters of the dimension
};

struct Restricted {
  Module module;
  WholeInputs inputs;  // without params
};
// The module, which is restrictable, over the chosen masters: index k of `dim` is chosen[k].
[[nodiscard]] Restricted restricted_to(const Module& module, DimId dim, const std::vector<Part>& parts,
                                       const std::vector<ChosenMaster>& chosen);

}  // namespace kasen
