// Columns of words while a table is read: each piece of the file numbers its own words, then all are merged; private to
// the reader.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcomm/data/table/dictionary.h"
#include "libcomm/data/text/text_cells.h"
#include "libcore/data/data.h"

namespace kasen {

using WordCodes = std::unordered_map<std::string_view, std::int64_t>;

// A column of the file that holds words.
struct WordsOfColumn {
  int column = 0;                  // from 1
  std::int64_t place = 0;          // in the table
  WordColumn known;                // the name, and the words of the given dictionary
  std::optional<WordCodes> codes;  // of the given dictionary; its texts are those of `known`
};

// One column of one piece. Words are numbered in the order in which they occur.
class MetWords {
 public:
  // TextFault for a cell that holds no text in UTF-8.
  [[nodiscard]] std::int64_t number(const Cells& cell);
  [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }

 private:
  WordCodes numbers_;
  std::vector<std::string_view> words_;  // in the file's text or in mended_
  std::deque<std::string> mended_;       // those in which the file doubles a quote
};

// A cell without a value: the row of the table, and the column.
struct MissingCell {
  std::int64_t row = 0, place = 0;
};

// The result of one piece: its rows, and for each column of words the number of each row's word.
struct PieceWords {
  std::int64_t rows = 0;
  std::vector<MetWords> met;
  std::vector<std::vector<std::int64_t>> numbers;  // -1: a cell without a value
  std::vector<MissingCell> missing;                // whose rows are left out, or get the mean
};

// The most words of a column that become columns.
inline constexpr std::int64_t most_one_hot = 1000;
// A table by rows, whose columns `words` marks as one_hot, with a column for each of their words in their place: 1
// where the row has the word, else 0. Columns get names: those of the file, else numbers, and NAME=WORD. UserError.
struct NamedValues {
  Array values;
  std::int64_t columns = 0;
  std::vector<std::string> names;
};
[[nodiscard]] NamedValues one_hot_columns(const Array& values, std::int64_t rows, const std::vector<std::string>& names,
                                          const std::vector<const WordColumn*>& words, const std::string& path);

// Stores the codes of column k of `columns`, and returns its dictionary. UserError(bad_input) if the table's type
// cannot distinguish so many words.
[[nodiscard]] WordColumn store_words(const WordsOfColumn& column, std::size_t k, const std::vector<PieceWords>& pieces,
                                     Array& values, std::int64_t table_columns, const std::string& path);

}  // namespace kasen
