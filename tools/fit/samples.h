// The table of kasen fit and kasen predict: which columns are features and which is the target, and how a program gets
// them from the file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcomm/data/model/model.h"
#include "libcomm/data/table/columns.h"
#include "tools/fit/cells.h"
#include "tools/fit/models.h"

namespace kasen::tools {

enum class TableForm : std::uint8_t { csv, npy, libsvm };
enum class SampleForm : std::uint8_t { automatic, dense, sparse };

struct Samples {
  std::string path;
  std::string target_path;  // a file of the target alone; empty: a column of the table
  TableForm form = TableForm::csv;
  bool sparse = false;
  int columns = 0;                    // of the table; 0 of LIBSVM
  std::vector<ModelColumn> features;  // those of numbers come first
  std::vector<ModelColumn> target;    // one, or none
  std::vector<std::string> classes;   // of the target, ascending
  std::vector<std::string> left_out;
  std::int64_t size = 0;  // of the features, where a model gives it; 0: the file does
  CellRules cells;
  bool by_means = false;              // missing cells get the means of the features, which a model has
  std::vector<std::int64_t> dropped;  // rows that are left out, ascending
  // Words that only such rows have, by the column's number. The file's codes count them: `class_codes` has those of the
  // target's words.
  std::map<int, std::set<std::string>> unused;
  std::vector<std::int64_t> class_codes;

  [[nodiscard]] bool is_plain() const;       // all columns are features, in their order, or it is LIBSVM
  [[nodiscard]] std::int64_t width() const;  // columns of X; 0: the file decides
  [[nodiscard]] bool target_is_words() const { return !target.empty() && !target[0].levels.empty(); }
};

struct SampleChoice {
  std::string target;                 // a name, a number, or a file
  std::vector<ColumnChoice> columns;  // the features; none: all others
  std::vector<ColumnChoice> words;    // columns that hold words, whatever their first lines show
  SampleForm form = SampleForm::automatic;
  CellRules cells;
};

// Looks at the table's first lines, and at all of the columns of words and classes. UserError.
[[nodiscard]] Samples samples_to_fit(const std::string& path, const ModelRow& row, const SampleChoice& choice);
// The same columns in another table, for a model. UserError: a column is missing, or unknown.
[[nodiscard]] Samples samples_to_predict(const std::string& path, const Model& model, const CellRules& cells);

// The statements that make X, and the target y, of the file; and what kasen go needs to read it.
[[nodiscard]] std::string declarations(const Samples& samples);
[[nodiscard]] std::vector<std::string> go_arguments(const Samples& samples);

// "3.0": a number of a program.
[[nodiscard]] std::string program_number(double value);

// Refuses a table whose features or target are not all finite: UserError(bad_input) that names the first such cell.
void require_finite(const Samples& samples);

// How errors name a column.
[[nodiscard]] std::string shown_column(const ModelColumn& column);

}  // namespace kasen::tools
