// Columns of a text as users choose them: numbers from 1, ranges of them, names of the first line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasen {

struct ColumnChoice {
  int first = 0, last = 0;  // last 0: up to the last column
  std::string name;         // instead of numbers

  ColumnChoice(int column) : first(column), last(column) {}  // NOLINT: a number is a choice
  ColumnChoice(int from, int to) : first(from), last(to) {}
  explicit ColumnChoice(std::string by_name) : name(std::move(by_name)) {}
};

// "1,3", "2-5,9-", "age,income". UserError(usage).
[[nodiscard]] std::vector<ColumnChoice> parse_columns(std::string_view text);
[[nodiscard]] bool any_by_name(const std::vector<ColumnChoice>& choices);

// The columns that a file has. If `open`, rows may be longer, and the reader of the rows reports a higher number.
struct FileColumns {
  std::vector<std::string> names;  // empty: no line names them
  int count = 0;
  bool open = false;
  std::string hint;  // about the separators, where they leave one column alone
};
// Numbers from 1, in the order of the choices. UserError(usage) for a column that does not exist or is repeated.
[[nodiscard]] std::vector<int> chosen_columns(const std::vector<ColumnChoice>& choices, const FileColumns& columns,
                                              const std::string& path);

}  // namespace kasen
