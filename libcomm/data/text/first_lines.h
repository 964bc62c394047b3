// Facts about a text that its first lines show: how cells are separated, and whether the first line holds names;
// private to the readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/text/number_style.h"
#include "libcomm/data/text/title_lines.h"

namespace kasen {

struct FirstLines {
  struct Line {
    std::int64_t at = 0;  // byte of the text
    std::vector<std::string> cells;
  };
  std::string path;
  std::string_view top;        // the text or its beginning
  char delimiter = ' ';        // of cells: a comma, a semicolon, a tab, '|'; else any blanks
  std::vector<Line> lines;     // the first two that are neither blank nor comments, if there are as many
  std::vector<HeadLine> head;  // the same and some more, where they are not long; else none
  std::string odd;             // what is said of a line without the separator of the others; empty: there is none

  [[nodiscard]] int columns() const;  // of the rows
};

// `top` must outlive it. Quotes that are not closed are an error if `strict`; else such lines are not cut into cells.
// UserError: bad_input, limit.
[[nodiscard]] FirstLines first_lines(const std::string& path, std::string_view top, bool strict,
                                     const NumberStyle& style = {});

// For messages: "','", "tab"; and what to do about one behind which no cell stands, in each line.
[[nodiscard]] std::string shown_delimiter(char delimiter);
[[nodiscard]] std::string remedy_for_last(char delimiter);

struct NameRule {
  bool wanted = false;       // columns are chosen by name
  std::vector<int> numbers;  // columns, from 1, that hold numbers, whatever the others hold
  std::vector<int> words;    // columns that hold words
  bool boolean = false;      // true and false are numbers
  NumberStyle style;
  std::vector<std::string> missing;  // words that are no names, since they mark a missing value
};
// Whether the first line holds the columns' names. An unclear value must not be lost as a name: UserError(bad_input)
// for a line of neither names nor values, and for names that are not as many as the columns.
[[nodiscard]] bool begins_with_names(const FirstLines& first, const NameRule& rule);

}  // namespace kasen
