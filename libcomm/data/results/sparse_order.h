// The nonzeros of a sparse output in the order of their rows, then of their columns, whoever has them; private to
// results.
#pragma once

#include <vector>

#include "libcomm/data/results/ranks.h"
#include "libcomm/data/results/table.h"

namespace kasen {

// One worker's nonzeros, with their places in the file, which ascend.
struct SortedNonzeros {
  IndexList places;
  Array elements;
};

// Collective. Of the parts of an output, in their order. A rank holds the rows and columns of some rows' nonzeros
// beside its own.
[[nodiscard]] std::vector<SortedNonzeros> sorted_nonzeros(const Output& output, std::int64_t rows, ResultRanks& ranks);

// Their shares. They must outlive these.
[[nodiscard]] std::vector<ResultShare> shares_of(const std::vector<SortedNonzeros>& sorted);

}  // namespace kasen
