// Columns of words that are ids, or rows and columns of a sparse matrix: all that name indices of one dimension share
// one list of words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"

namespace kasen::tools {

// Each column of words gets the dimensions of its input (WordColumn::over). Columns that are ids, and rows and columns
// of sparse matrices, get the codes of the list of their dimension: the words of all in their order, or, where a
// dictionary has another one, those of the first input and then those that the next ones add. A dimension without a
// size, and over which no other input is, has as many indices as there are words. Throws UserError(usage) where an
// input holds words of several columns and others name the same dimension with other words: nothing tells whose codes
// are meant.
void share_id_words(std::vector<DimData>& dims, std::vector<InputData>& inputs);

// Adds the words of each such dimension, which name its indices in results.
void add_names_of_words(const std::vector<DimData>& dims, std::vector<InputData>& inputs, DimNames& names);

// Refuses an input over a dimension whose indices are words of another input: its rows are in the order of its file, or
// its entries have numbers, which is not the order of the words. Right are results of runs that had the same words, as
// the dictionary beside the result shows, and where `given` (--dictionary) gives the order. `files`: by input.
// UserError(usage), and that of read_dictionary().
void require_rows_of_words(const std::vector<DimData>& dims, std::vector<InputData>& inputs,
                           const std::map<std::string, std::string>& files, const Dictionary& given);

}  // namespace kasen::tools
