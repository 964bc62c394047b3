// Models that were fitted to a table, as HDF5 files: numbers under their names, and `about`, a text in JSON that says
// what they mean. A model may come from others, so nothing in it is trusted: its version, digests, sizes and numbers
// are checked before it is used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kasen {

// A column of the table. A word has a coefficient for each of its levels.
struct ModelColumn {
  int number = 0;                   // in the table, from 1
  std::string name;                 // empty: the table has no names
  std::vector<std::string> levels;  // the words of the column; empty: it holds numbers
  std::optional<double> mean = {};  // stands in for its missing cells
  friend bool operator==(const ModelColumn&, const ModelColumn&) = default;
};

struct ModelArray {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  std::vector<std::int64_t> whole = {};  // instead of values: ids, of which f64 cannot hold all
  friend bool operator==(const ModelArray&, const ModelArray&) = default;
};

struct Model {
  std::string kind;                   // "logistic"
  std::string table;                  // what it was fitted to: "csv", "npy" or "libsvm"
  int table_columns = 0;              // of that table; 0 of LIBSVM
  std::vector<ModelColumn> features;  // in the order of the coefficients
  std::vector<ModelColumn> target;    // one, or none
  std::vector<std::string> classes;   // of the target, as they stand in the table
  std::vector<std::string> left_out;  // names of columns that are neither
  std::vector<std::string> marks;     // of missing cells, beside those that always are
  bool sparse = false;                // fitted to sparse samples
  std::map<std::string, double> facts;
  std::map<std::string, ModelArray> arrays;
  friend bool operator==(const Model&, const Model&) = default;

  [[nodiscard]] std::int64_t width() const;  // coefficients of all features
};

// UserError: cannot_create, io. The file appears complete, or not at all.
void write_model(const std::string& path, const Model& model);
// UserError: missing_input; bad_input: no model, another version, altered; limit; io.
[[nodiscard]] Model read_model(const std::string& path);

}  // namespace kasen
