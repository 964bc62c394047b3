// Names of indices in what is shown: columns of a table whose first line names them.
#pragma once

#include <string>

#include "libcomm/data/table/dictionary.h"
#include "libcomm/data/view/view.h"
#include "tools/show/shown.h"

namespace kasen::tools {

// Those beside a result (RESULT.dictionary.json); none where no such file is there.
[[nodiscard]] DimNames names_beside(const std::string& result);

// Replaces the indices of an array's rows by the names of its dimensions. `names` must outlive it.
[[nodiscard]] Rename index_names(const ViewArray& array, const DimNames& names);

}  // namespace kasen::tools
