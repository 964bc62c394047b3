// Columns of words that are ids: all that name indices of one dimension share one list of words.
#pragma once

#include <vector>

#include "libcomm/data/cut/partition.h"

namespace kasen::tools {

// Each column of words gets the dimensions of its input (WordColumn::over). Columns that are ids get the codes of the
// list of its dimension: the words of all in their order, or, where a dictionary has another one, those of the first
// input and then those that the next ones add. A dimension without a size,
// and over which no input is, has as many indices as there are words. Throws UserError(usage) where an input holds
// words of several columns and others name the same dimension with other words: nothing tells whose codes are meant.
void share_id_words(std::vector<DimData>& dims, std::vector<InputData>& inputs);

}  // namespace kasen::tools
