// Parses pieces of a table in text into rows; private to the reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/table/table_form.h"
#include "libcomm/data/text/number_readings.h"
#include "libcomm/data/text/text_cells.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {

// Where the rows of a piece go, from index `first` of each plane on. One plane has rows side by side; else each has a
// column.
struct RowPlaces {
  std::vector<std::byte*> planes;
  std::int64_t first = 0;
};

class TableParser {
 public:
  // The form must outlive it.
  TableParser(const TableForm& form, Scalar scalar);
  // TextFault. Columns of words get nothing; their words are in the result.
  [[nodiscard]] PieceWords parse(const Piece& piece, const RowPlaces& to) const;

 private:
  struct Column {
    std::int64_t place = -1;  // in the result
    std::int64_t words = -1;  // in TableForm::words
    std::optional<DateUnit> date;
  };

  // `first`: the table's row of the piece's first one.
  const char* row(const char* line, std::byte* plane, std::int64_t row, std::int64_t first, PieceWords& found) const;
  bool next_number(Cells& cells, std::size_t c, std::byte* plane, std::int64_t i) const;
  bool next_date(Cells& cells, DateUnit unit, std::byte* plane, std::int64_t i) const;
  // Takes the next cell if it has no value: an entry of `found`, or the value that stands for it.
  bool take_missing(Cells& cells, std::byte* plane, std::int64_t i, MissingCell at, PieceWords& found) const;
  void take_word(const Cells& cells, std::size_t k, MissingCell at, PieceWords& found) const;
  // The advice about a cell that marks a missing value; else no text.
  [[nodiscard]] std::string remedy_for_missing(std::string_view cell, bool word) const;
  // The advice about a cell without digits, which may be such a mark; else no text.
  [[nodiscard]] std::string remedy_for_mark(std::string_view cell) const;
  // Adds the reason, where the cell shows one, and the advice about one that is no number of column c.
  void explain_number(TextFault& fault, const Cells& cells, std::size_t c) const;
  [[nodiscard]] std::string remedy_for_number(std::string_view cell, const BesideNumber& beside, bool quoted,
                                              std::size_t c) const;
  // "--missing X=drop"
  [[nodiscard]] std::string option(std::string_view name, std::string_view value) const;
  void check_known(const Cells& cells, const WordsOfColumn& column, std::string_view word) const;

  const TableForm& form_;
  std::int64_t bytes_;  // of a number
  bool real_ = false;   // it is floating point
  ParseInto parse_;
  std::vector<Column> columns_;  // of the file
  MissingNumbers missing_numbers_;
  std::array<std::byte, 8> fill_{};  // in place of a missing value
};

}  // namespace kasen
