// What the beginning of a table in text and the user's choices say about its rows; private to the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/table/missing.h"
#include "libcomm/data/table/table_words.h"
#include "libcomm/data/text/date_text.h"
#include "libcomm/data/text/number_style.h"

namespace kasen {

// A column of the file, from 1, that holds dates.
struct DatesOfColumn {
  int column = 0;
  DateUnit unit = DateUnit::days;
};

struct TableForm {
  char delimiter = ' ';
  std::int64_t from = 0;           // byte of the first row
  std::size_t columns = 0;         // of the file
  std::vector<int> taken;          // columns of the file, from 1, in the order of the result
  std::vector<std::string> names;  // of these; none where no line names the columns
  std::vector<WordsOfColumn> words;
  std::vector<DatesOfColumn> dates;
  std::string dictionary_name;  // of the given one, in messages
  MissingRule missing;
  NumberStyle numbers;
  std::string hint;   // about the separators, where cells are no numbers
  std::string input;  // its name where messages write options; empty: these name no input
};

}  // namespace kasen
