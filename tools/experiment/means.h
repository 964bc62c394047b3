// Means of scalar outputs over points that differ in some settings alone, as the folds of a cross-validation.
#pragma once

#include <string>
#include <vector>

#include "libcore/json/text.h"
#include "tools/experiment/summary.h"

namespace kasen::tools {

struct OutputMean {
  std::string name;
  std::vector<double> values;  // of the points, in their order
  bool whole = true;           // each point of the group has a number
  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;  // of the sample, with one degree of freedom less; NaN of one value
};

struct MeanGroup {
  const Point* first = nullptr;  // of the points that differ in the named settings alone
  int points = 0;
  std::vector<OutputMean> outputs;
};

// The groups in the order of their first points; none where the experiment asks for no means.
[[nodiscard]] std::vector<MeanGroup> means_of(const Summary& summary);
// A table with its head first, or nothing. `digits` of numbers; 0: all.
[[nodiscard]] std::vector<std::vector<std::string>> mean_rows(const Summary& summary, int digits);
[[nodiscard]] std::string means_table(const Summary& summary);
[[nodiscard]] std::string means_csv(const Summary& summary);
[[nodiscard]] Json means_json(const Summary& summary);  // null: none are asked for

}  // namespace kasen::tools
