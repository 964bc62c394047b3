// Rows of a result as CSV or JSON, with every digit.
#pragma once

#include <string>

#include "libcomm/data/view/view.h"

namespace kasen::tools {

// The text goes out piece by piece: an array may be larger than memory.
class RowText {
 public:
  virtual ~RowText() = default;
  [[nodiscard]] virtual std::string begin(const ViewArray& array) = 0;
  [[nodiscard]] virtual std::string row(const ViewRow& row) = 0;
  [[nodiscard]] virtual std::string end() = 0;
};

// As kasen run writes it: a line of names, then ids and values.
class CsvText : public RowText {
 public:
  [[nodiscard]] std::string begin(const ViewArray& array) override;
  [[nodiscard]] std::string row(const ViewRow& row) override;
  [[nodiscard]] std::string end() override { return {}; }
};

// {"name": ..., "dims": [...], "shape": [...], "columns": [...], "rows": [[...], ...]}. NaN and infinities, which JSON
// does not have, are the texts "nan", "inf" and "-inf".
class JsonText : public RowText {
 public:
  [[nodiscard]] std::string begin(const ViewArray& array) override;
  [[nodiscard]] std::string row(const ViewRow& row) override;
  [[nodiscard]] std::string end() override { return "\n]}"; }

 private:
  bool first_ = true;
};

}  // namespace kasen::tools
