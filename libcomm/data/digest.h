// XXH3-128 digests, as 32 hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

[[nodiscard]] std::string digest_of(std::string_view bytes);

struct FileDigest {
  std::string hex;
  std::int64_t bytes = 0;
};
// UserError: missing_input, io.
[[nodiscard]] FileDigest digest_of_file(const std::string& path);

}  // namespace kasen
