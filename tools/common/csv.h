// Lines of CSV files that the tools write.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

// In quotes where it has a comma, a quote or the end of a line.
[[nodiscard]] std::string csv_cell(const std::string& text);
// With its end.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

}  // namespace kasen::tools
