// The texts of forms' names (form_store.h).
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/kernels/numbering.h"

namespace kasen {

// The order of owned elements over a dimension. Empty: they ascend, whatever the data.
[[nodiscard]] std::string order_text(const Module& module, DimId dim, WithinGroups within);
// A sparse input in pull form between two spaces. `transposed` as in make_local_matrix.
[[nodiscard]] std::string matrix_text(const Module& module, const std::string& input, bool transposed,
                                      const SpaceKey& operand, const SpaceKey& result, WithinGroups within);

}  // namespace kasen
