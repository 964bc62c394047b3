// Kinds of files that Kasen does not read, recognised by how they begin, and how to turn each into one that it reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

inline constexpr std::int64_t container_bytes = 64;  // of a beginning, that are looked at

// UserError(bad_input), with the line that converts the file, if it is of such a kind. `path` decides where the bytes
// alone might also be text.
void refuse_container(std::string_view beginning, const std::string& path);

}  // namespace kasen
