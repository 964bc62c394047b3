/// \file
/// Buffers as CSV: a header that names columns in any order, then a line for each buffer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libopt/packing/packing.h"

namespace kasen::packing {

/// Reads `id,lower,upper,size` and, where given, `alignment` (1). Other columns but `offset`, which is skipped, are
/// refused. The text may come from anyone. UserError(bad_input) with the place in the file for what is no buffer.
[[nodiscard]] std::vector<Buffer> read_buffers(std::string_view text, const std::string& file);

/// The same with the offsets of a packing: `id,lower,upper,size,offset`, and `alignment` where one is not 1.
[[nodiscard]] std::string buffers_csv(const std::vector<Buffer>& buffers, const Packing& packing);

}  // namespace kasen::packing
