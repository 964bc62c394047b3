// Names of indices in what is shown: columns of a table whose first line names them, and words. Elements of a result
// that are indices have them, too.
#pragma once

#include <string>

#include "libcomm/data/table/element_dims.h"
#include "libcomm/data/view/view.h"
#include "tools/show/shown.h"

namespace kasen::tools {

struct IndexNames {
  DimNames dims;
  ElementDims elements;
};

// Those beside a result (RESULT.dictionary.json); none where no such file is there.
[[nodiscard]] IndexNames names_beside(const std::string& result);
// Those of a dictionary; none of "".
[[nodiscard]] IndexNames names_of_dictionary(const std::string& dictionary);

// Replaces the indices in an array's rows by the names of their dimensions. `names` must outlive it.
[[nodiscard]] Rename index_names(const ViewArray& array, const IndexNames& names);

}  // namespace kasen::tools
