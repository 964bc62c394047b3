// A program restricted to some indices of one dimension. Where no operator combines elements of several indices, its
// results equal those of the whole program at these indices. So a few elements of a large result are computed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libcore/reference/interpreter.h"

namespace kasen {

// True if every operator computes its elements at an index of `dim` (no_dim: of none) from elements at that index and
// from shareds alone. Inputs are cut along `dim` or shared, so that a worker has all data for its owned indices. Sums
// over `dim`, products along it and sparse matrices are excluded.
[[nodiscard]] bool is_restrictable(const Module& module, DimId dim);

struct ChosenMaster {
  std::size_t part = 0;    // among the parts at hand
  std::int64_t place = 0;  // among its owned indices of the dimension
};

struct Restricted {
  Module module;
  WholeInputs inputs;  // without params
};
// The module, which is restrictable, over the chosen owned indices: index k of `dim` is chosen[k].
[[nodiscard]] Restricted restricted_to(const Module& module, DimId dim, const std::vector<Part>& parts,
                                       const std::vector<ChosenMaster>& chosen);

}  // namespace kasen
