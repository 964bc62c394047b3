// Where the user's caches are.
#pragma once

#include <string>

namespace kasen::tools {

// Of compiled kernels; "" where the environment does not tell.
[[nodiscard]] std::string default_code_cache();

}  // namespace kasen::tools
