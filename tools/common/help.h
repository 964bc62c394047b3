// The text of --help: an example first, then usage, options under their headings, and where to read on.
#pragma once

#include <string>

#include "tools/common/option_rows.h"

namespace kasen::tools {

[[nodiscard]] std::string help_text(const Tool& tool);
// The help on one option, heading or topic. UserError(usage) with a suggestion if none has this name.
[[nodiscard]] std::string help_text(const Tool& tool, const std::string& word);

}  // namespace kasen::tools
