// Results as text for people: scalars whole, small arrays whole, of others the first rows, under the user's ids.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcomm/data/view/view.h"

namespace kasen::tools {

struct ShowStyle {
  std::int64_t rows = 10;   // of an array
  std::int64_t whole = 20;  // an array of at most so many is shown whole
  size_t width = 0;         // of lines, in letters; 0: any
  int digits = 6;           // of real numbers in tables; 0: all
  bool counts_nan = false;  // goes over the whole array, and tells how many NaN it has
};

constexpr int shown_rows = 10;  // the default of --show

// The head of a table, its line of names and its rows. Of a scalar the head alone, "s = 2".
struct ShownTable {
  std::string head;
  std::vector<std::vector<std::string>> lines;
  bool scalar = false;
};
using Rename = std::function<void(ViewRow& row)>;
[[nodiscard]] ShownTable shown_table(const ResultView& view, size_t array, const ShowStyle& style,
                                     const Rename& renamed = {});

// One array as text. `renamed` replaces ids and cells by words, where it is given.
[[nodiscard]] std::string shown_array(const ResultView& view, size_t array, const ShowStyle& style,
                                      const Rename& renamed = {});
// Its `count` largest rows by their first cell: larger ones first, NaN last, equal ones in the order of the file.
[[nodiscard]] std::vector<ViewRow> top_rows(const ResultView& view, size_t array, size_t count);
// Rows that were chosen, as a table. `head`: the line above it.
[[nodiscard]] std::string shown_rows_text(const ViewArray& array, const std::vector<ViewRow>& rows,
                                          const std::string& head, const ShowStyle& style);
// "pr (N = 325,557)".
[[nodiscard]] std::string title_of(const ViewArray& array);

// The arrays of these outputs, in this order.
[[nodiscard]] std::vector<size_t> in_order(const ResultView& view, const std::vector<std::string>& outputs);

// Some arrays in this order, by their names, one behind the other. Beyond a screen there are titles alone. `rename`
// makes the Rename of an array.
[[nodiscard]] std::string shown_result(const ResultView& view, const ShowStyle& style,
                                       const std::vector<std::string>& names,
                                       const std::function<Rename(const ViewArray&)>& rename);

}  // namespace kasen::tools
