/// \file
/// Results of a run, read back to be shown: every format of results/formats.def, row by row, under the user's ids. A
/// reader holds some thousand elements of an array at a time. Files may come from others: every size and place in them
/// is checked against the file before it is used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/results/formats.h"

namespace kasen {

/// A number of a result, or a word.
struct ViewCell {
  enum class Kind : std::uint8_t { real, single, integer, boolean, word };
  Kind kind = Kind::real;
  double real = 0;           ///< real and single
  std::int64_t integer = 0;  ///< integer and boolean
  std::string word = {};

  [[nodiscard]] bool is_real() const { return kind == Kind::real || kind == Kind::single; }
  [[nodiscard]] bool is_nan() const { return is_real() && real != real; }
  [[nodiscard]] double number() const { return is_real() ? real : static_cast<double>(integer); }
};
/// Reads back to the same bits; `digits` > 0: at most so many significant ones of a real number.
[[nodiscard]] std::string cell_text(const ViewCell& cell, int digits = 0);

struct ViewArray {
  std::string name;
  std::vector<std::string> dims;     ///< of a row's ids; empty texts where the file does not name them
  std::vector<std::int64_t> shape;   ///< of the array, by dims; empty in text, which does not state it
  bool sparse = false;               ///< a row for each nonzero, with the ids of its row and column
  std::vector<std::string> columns;  ///< names of a row's cells: "pr", "w.0", "w.1[2]"
  std::int64_t rows = 0;             ///< elements, or nonzeros
  std::string type;                  ///< of the cells, "f64 i64"; empty in text
};

struct ViewRow {
  std::vector<ViewCell> ids, cells;
};

class ResultView {
 public:
  using Take = std::function<bool(const ViewRow&)>;  ///< false: no more rows are wanted

  virtual ~ResultView() = default;
  [[nodiscard]] const std::vector<ViewArray>& arrays() const { return arrays_; }
  /// The rows of an array in the order of the file.
  virtual void rows(std::size_t array, const Take& take) const = 0;

 protected:
  std::vector<ViewArray> arrays_;
};

/// Opens a result by its content, else its ending. Of a format with several files, `path` is the first output's; the
/// others are found beside it. `first`: the first output's name, which .npy, .npz and .mtx do not tell; else that of
/// the file. UserError: bad_input, missing_input, io.
/// `format`: where it is known.
[[nodiscard]] std::unique_ptr<ResultView> view_result(const std::string& path, const std::string& first = {},
                                                      std::optional<ResultFormat> format = std::nullopt);

/// Names of the arrays. The place of one of them; UserError(usage) that names all if there is none.
[[nodiscard]] std::size_t find_array(const ResultView& view, const std::string& name, const std::string& path);

}  // namespace kasen
