// The results of a run for its page.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/results/formats.h"
#include "libopt/report/report.h"

namespace kasen::tools {

// The arrays of a result in the order of these outputs: the first rows, few numbers as points, many as a histogram.
// Nothing where there is no such file any more.
[[nodiscard]] std::vector<PageResult> page_results(const std::string& path, ResultFormat format,
                                                   const std::vector<std::string>& outputs);

}  // namespace kasen::tools
