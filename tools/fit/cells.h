// How the cells of a model's table are read: what a missing one becomes, and how numbers are written.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/table_head.h"
#include "tools/common/tool.h"

namespace kasen::tools {

struct CellRules {
  MissingRule missing;
  NumberStyle numbers;
  bool chosen = false;  // --missing is given

  [[nodiscard]] bool any() const { return chosen || !missing.marks.empty() || !numbers.plain(); }
  [[nodiscard]] bool drops() const { return missing.how == MissingRule::How::drop; }
  // Whether a missing cell gets a number.
  [[nodiscard]] bool fills() const {
    return missing.how == MissingRule::How::mean || missing.how == MissingRule::How::value;
  }
};

// Declares --missing, --missing-as, --decimal and --thousands.
void declare_cell_rules(Tool& tool);
// UserError(usage).
[[nodiscard]] CellRules cell_rules(const po::variables_map& values);
// UserError(usage): `what` has no cells in text, and the rules speak of some.
void refuse_cell_rules(const CellRules& rules, const std::string& what, const std::string& why);

[[nodiscard]] HeadCells head_cells(const CellRules& rules);
// For reads of columns of numbers, f64.
[[nodiscard]] ReadOptions table_read_options(const CellRules& rules);
// Options of kasen go: for these inputs.
[[nodiscard]] std::vector<std::string> cell_arguments(const CellRules& rules, const std::vector<std::string>& inputs);

}  // namespace kasen::tools
