// A manifest whose digest fits its content, whatever that is: without it all but the digest's check would be out of
// reach.
#pragma once

#include <string>
#include <string_view>

namespace kasen::fuzz {

// The text as it is where it has no content.
[[nodiscard]] std::string with_fitting_digest(std::string_view text);

}  // namespace kasen::fuzz
