// Dimensions whose size the run finds: `dim K some N` has at most the indices of N. An operator `observe` gives the
// size, once, in the program's own block. Before it, the bound |N| stands for the size: buffers and costs take it.
// Behind it, K is a dimension like others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// The observed dimensions from which a dimension's size follows: itself, or those of its sources.
[[nodiscard]] std::vector<DimId> observed_sources(const IdMap<DimId, Dimension>& dims, DimId dim);
[[nodiscard]] inline bool follows_observed(const IdMap<DimId, Dimension>& dims, DimId dim) {
  return !observed_sources(dims, dim).empty();
}

// The program's operator that gives the size of a dimension; null: none.
[[nodiscard]] const Op* observation_of(const Module& module, DimId dim);
[[nodiscard]] bool observes(const Module& module);

// Throws UserError (bad_input) for a size below 0, or above that of the dimension's source.
void require_observed_size(const Dimension& dim, std::int64_t size, std::int64_t most, const Location& where);

// The first operator with arrays over a dimension whose size is not known there.
struct EarlyUse {
  const Op* op = nullptr;
  DimId dim = no_dim;  // the observed one
};
[[nodiscard]] std::optional<EarlyUse> early_use(const Module& module);

}  // namespace kasen
