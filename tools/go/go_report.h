// The report of kasen go in JSON: its files, its run, and the comparison of predicted and counted numbers.
#pragma once

#include <string>

#include "tools/go/go_files.h"

namespace kasen::tools {

// `run` and `comparison` are the reports of these steps; an empty text where there is none.
[[nodiscard]] std::string go_document(const GoFiles& files, const std::string& run, const std::string& comparison);

}  // namespace kasen::tools
