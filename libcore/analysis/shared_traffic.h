/// \file
/// What every worker reads and writes of shared arrays (docs/cost.md, "The actual column"). The executor counts by it,
/// and libopt predicts.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

/// The shareds that have a dimension. Single values are free, and compressed arrays are counted apart.
[[nodiscard]] bool is_shared_array(const Module& module, ValueId value);

/// Every worker reads all elements of each of `read` and writes all of each of `written` once, whatever the operator
/// does with them. `read` also has the arrays that the operator reads whole, and the results of views of shareds: the
/// elements that such a view shows, once for each view.
struct SharedTraffic {
  std::vector<ValueId> read, written;
};

/// Of an operator or a region, by itself. Control, gather and scatter and the places of a list have none.
[[nodiscard]] SharedTraffic shared_traffic(const Module& module, const Op& op);

}  // namespace kasen
