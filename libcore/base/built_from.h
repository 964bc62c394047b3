// Which sources this program was built from.
#pragma once

#include <string_view>

namespace kasen {

// A digest of libcore's and libkernels' sources (built_from.py): modules with another one have other types, and kernels
// that were kept with another one may be other kernels.
[[nodiscard]] std::string_view built_from();

}  // namespace kasen
