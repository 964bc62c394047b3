// Rows of a result as CSV or JSON, with every digit.
#pragma once

#include <cstdint>
#include <string>

#include "libcomm/data/view/view.h"
#include "libcore/json/text.h"
#include "tools/show/shown.h"

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

// One array of a report of the kind "result": {"name": ..., "dims": [...], "shape": [...], "columns": [...], "rows":
// [[...], ...]}. Numbers are written with all digits, NaN and infinities as real_json does.
class JsonText : public RowText {
 public:
  [[nodiscard]] std::string begin(const ViewArray& array) override;
  [[nodiscard]] std::string row(const ViewRow& row) override;
  [[nodiscard]] std::string end() override { return "\n]}"; }

 private:
  bool first_ = true;
};

// The same as JSON in memory, of the first `count` rows, or with `top` the largest; `renamed` as in shown_array.
[[nodiscard]] Json array_json(const ResultView& view, size_t array, std::int64_t count, bool top,
                              const Rename& renamed);

}  // namespace kasen::tools
