// Text as UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kasen {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8 character begins here
};
[[nodiscard]] Utf8Character utf8_at(std::string_view text, std::size_t at);

}  // namespace kasen
