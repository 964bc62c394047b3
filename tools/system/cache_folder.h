// The folders of the user's caches.
#pragma once

#include <string>

namespace kasen::tools {

// The folder of compiled kernels; "" where the environment names none.
[[nodiscard]] std::string default_code_cache();

}  // namespace kasen::tools
