// What a file is that was given where another kind is read: told by how it begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

enum class TextKind : std::uint8_t { empty, program, ir, data, json, hdf5, binary, unknown };

[[nodiscard]] TextKind text_kind(std::string_view text);
// "it is a program", "it is data: numbers"; empty for what is not known.
[[nodiscard]] std::string_view kind_text(TextKind kind);

}  // namespace kasen
