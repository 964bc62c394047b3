// Elements of several planes whose scalars lie side by side in a file, brought to their planes.
#pragma once

#include <cstdint>

#include "libcore/data/disk_elements.h"

namespace kasen {

// Copies scalars [first, last) of the file, which are at `from`. All are of one size.
void spread(const std::byte* from, std::int64_t first, std::int64_t last, const ElementMemory& to);

}  // namespace kasen
