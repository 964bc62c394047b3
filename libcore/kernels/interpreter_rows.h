// A region of rows on the interpreter: share by share and block by block, one operator after another. Internal to
// libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "libcore/kernels/interpreter_product.h"

namespace kasen::interpreter {

// Runs a map, slice or reduction on some rows of its views, whose arrays begin at row 0.
using RunVectorWork = std::function<void(const ElementwiseCall& call)>;

// Returns what it reads and writes. The call's totals hold their identities, or what other rows gave. `going_on`: the
// totals of a share that the next call goes on with, one after another.
[[nodiscard]] AccessCount run_rows(const Module& module, const RowsCall& call, const RunVectorWork& vector_work,
                                   std::vector<Bytes>& going_on);

}  // namespace kasen::interpreter
