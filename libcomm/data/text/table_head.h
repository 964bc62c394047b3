// The columns of a table in text as its first lines show them, for those who have to know them before all is read.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/text/number_style.h"
#include "libcomm/data/text/title_lines.h"

namespace kasen {

struct HeadColumn {
  std::string name;    // empty: no line names the columns
  bool words = false;  // the first lines have cells there, and none is a number
};
struct TableHead {
  bool named = false;  // the first line holds names
  std::vector<HeadColumn> columns;
  std::vector<HeadLine> lines = {};  // for check_title
};

// What the caller knows of the cells.
struct HeadCells {
  NumberStyle numbers;
  std::vector<std::string> marks;                    // of missing values, beside those that always are: no names
  std::function<bool(std::string_view)> is_missing;  // such cells say nothing of their column; none: empty ones
  std::vector<std::string> wanted = {};              // names of columns that the caller will ask for, where it knows
};

// `by_name`: columns are chosen by name, so a first line of words holds names, whatever stands below it. The readers
// find the same, if they take all columns and are told the same columns of words. UserError: missing_input, bad_input,
// limit, io.
[[nodiscard]] TableHead read_table_head(const std::string& path, bool by_name, const HeadCells& cells = {});

}  // namespace kasen
