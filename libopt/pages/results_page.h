// The results of a run at the beginning of its page: a table of each, a plot of few numbers, a histogram of many.
#pragma once

#include <string>
#include <vector>

#include "libopt/report/report.h"

namespace kasen {

// Nothing for no results.
[[nodiscard]] std::string results_section(const std::vector<PageResult>& results);
// What made them; lines without content are left out.
[[nodiscard]] std::string origin_section(const std::vector<PageOrigin>& origin);

}  // namespace kasen
