// Digests of code and of all that it depends on.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace kasen {

// BLAKE2b (RFC 7693) with 256 bits, 64 hexadecimal digits, of the pieces one after another.
[[nodiscard]] std::string code_digest(std::initializer_list<std::string_view> pieces);

}  // namespace kasen
