// The columns of a table in text as its first lines show them, for those who have to know them before all is read.
#pragma once

#include <string>
#include <vector>

namespace kasen {

struct HeadColumn {
  std::string name;    // empty: no line names the columns
  bool words = false;  // no cell of the first lines is a number
};
struct TableHead {
  bool named = false;  // the first line holds names
  std::vector<HeadColumn> columns;
};

// `by_name`: columns are chosen by name, so a first line of words holds names, whatever stands below it. The readers
// find the same, if they take all columns and are told the same columns of words. UserError: missing_input, bad_input,
// limit, io.
[[nodiscard]] TableHead read_table_head(const std::string& path, bool by_name);

}  // namespace kasen
