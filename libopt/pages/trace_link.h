// The run's trace on its page.
#pragma once

#include <string>

namespace kasen {

// Returns the page with a link to the trace, whose path begins at the page's folder.
[[nodiscard]] std::string with_trace_link(std::string page, const std::string& trace);

}  // namespace kasen
