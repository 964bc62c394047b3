/// \file
/// The dimensions of a plan against those of the data that it runs on.
#pragma once

#include <cstdint>
#include <set>

#include "libcore/ir/module.h"

namespace kasen {

/// Those of values and operators, and those that their sizes and the places of their parts follow from.
[[nodiscard]] std::set<DimId> used_dims(const Module& module);

/// UserError(bad_input): the data has another size of a dimension than the plan was made for.
void require_size_of_data(const Dimension& dim, std::int64_t size);

}  // namespace kasen
