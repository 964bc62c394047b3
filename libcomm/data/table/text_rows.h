// The rows of a table in text: all at once into memory, or some at a time; private to the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcomm/data/base/row_stream.h"
#include "libcomm/data/table/table_form.h"
#include "libcomm/data/table/table_parser.h"
#include "libcomm/data/text/input_file.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {

class TextRows : public RowStream {
 public:
  // Counts the rows. UserError as TextPieces.
  TextRows(InputFile file, TableForm form, Scalar scalar, bool by_column, std::function<void(double)> progress);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::string digest() const { return file_.digest(); }
  [[nodiscard]] const TableForm& form() const { return form_; }
  [[nodiscard]] std::int64_t count() const { return text_.rows(); }
  [[nodiscard]] std::int64_t comments() const { return text_.comments(); }
  [[nodiscard]] std::int64_t width() const override { return std::ssize(form_.taken); }
  [[nodiscard]] bool by_column() const { return by_column_; }

  // Parses all rows to planes that hold them, one or one for each column.
  [[nodiscard]] std::vector<PieceWords> parse_to(const std::vector<std::byte*>& planes) const;
  // Of a table without words.
  void for_each(const std::function<void(const Block&)>& take) const override;

 private:
  InputFile file_;
  TableForm form_;
  std::int64_t bytes_;  // of a number
  bool by_column_;
  TableParser parser_;
  TextPieces text_;
  std::function<void(double)> progress_;
};

}  // namespace kasen
