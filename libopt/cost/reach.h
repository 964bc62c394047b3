// How far apart a sparse product's reads of its vector are. The order of the nonzeros decides: those of a web graph's
// page mostly read its neighbours, which a cache still holds, and those of a random graph read any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

// Bytes of a vector that fits in any cache, of one that only the largest cache holds, and of one that fits in none: a
// machine's profile has the time of a nonzero for each.
inline constexpr double near_span = 256 << 10, middle_span = 8 << 20, far_span = 256 << 20;

// The share of its vector over which reads at random would be as far apart (0 to 1), by the matrix's axis whose vector
// is read.
using Reaches = std::map<SlaveAtom, double>;

// The axis whose vector a sparse product or a fold reads in the order of the nonzeros; nothing for other operators.
[[nodiscard]] std::optional<SlaveAtom> axis_read(const Module& module, const Op& op);
// The axes whose vectors the module's sparse products and folds read in the order of the nonzeros.
[[nodiscard]] std::set<SlaveAtom> axes_read(const Module& module);

// `read`: the indices in the order of reading, each in 0 to indices - 1. Distances are those of the footprint theory
// (Xiang et al., ASPLOS 2013): a read is as far from the last one of the same line as the mean number of lines that are
// read in that time. Returns the number of indices of a vector whose reads at random have the same mean logarithm of
// the distance, where what is nearer than near_span counts as near_span. At most `indices`.
[[nodiscard]] double reach_of(std::span<const std::int32_t> read, std::int64_t indices);
// The share of that number among the axis's indices on the part's worker.
[[nodiscard]] double reach_of(const Part& part, const PartMatrix& matrix, Axis axis);

}  // namespace kasen
