// Options that take a size of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/common/tool.h"

namespace kasen::tools {

// "8G", "8GiB": bytes, or a number of KiB, MiB, GiB or TiB; "8GB": of 10^9 bytes. None: it is no size.
[[nodiscard]] std::optional<std::int64_t> bytes_of(const std::string& text);

// Bytes; 0 without the option. UserError (usage) for what is no size.
[[nodiscard]] std::int64_t byte_option(const po::variables_map& values, const std::string& name);

}  // namespace kasen::tools
