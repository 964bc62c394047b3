// What the first lines of a text say of all of it: how cells are separated, and whether the first holds names; private
// to the readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

struct FirstLines {
  struct Line {
    std::int64_t at = 0;  // byte of the text
    std::vector<std::string> cells;
  };
  std::string path;
  std::string_view top;     // the text or its beginning
  char delimiter = ' ';     // of cells: a comma, a semicolon, a tab; else any blanks
  std::vector<Line> lines;  // the first two that are neither blank nor comments, where there are as many

  [[nodiscard]] int columns() const;  // of the rows
};

// `top` must outlive it. Quotes that are not closed are a fault where `strict`; else such lines are not cut into cells.
// UserError: bad_input, limit.
[[nodiscard]] FirstLines first_lines(const std::string& path, std::string_view top, bool strict);

struct NameRule {
  bool wanted = false;       // columns are chosen by name
  std::vector<int> numbers;  // columns, from 1, that hold numbers, whatever the others hold
  std::vector<int> words;    // columns that hold words
  bool boolean = false;      // true and false are numbers
};
// Whether the first line holds the columns' names. A value of which nobody knows what it is must not be lost as a name:
// UserError(bad_input) for a line that is neither names nor values, and for names that are not as many as the columns.
[[nodiscard]] bool begins_with_names(const FirstLines& first, const NameRule& rule);

}  // namespace kasen
