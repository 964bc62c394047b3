// Parses pieces of a table in text into rows; private to the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcomm/data/table/table_form.h"
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
  };

  const char* row(const char* line, std::byte* plane, std::int64_t row, PieceWords& found) const;
  bool next_number(Cells& cells, std::size_t c, std::byte* plane, std::int64_t i) const;
  void take_word(const Cells& cells, std::size_t k, PieceWords& found) const;
  void check_known(const Cells& cells, const WordsOfColumn& column, std::string_view word) const;

  const TableForm& form_;
  std::int64_t bytes_;  // of a number
  ParseInto parse_;
  std::vector<Column> columns_;  // of the file
};

}  // namespace kasen
