// The kind of a file that was given where another kind is expected, recognised by its first bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kasen {

enum class TextKind : std::uint8_t { empty, program, ir, data, json, hdf5, binary, unknown };

[[nodiscard]] TextKind text_kind(std::string_view text);
// "it is a program", "it is data: numbers"; empty for an unknown kind.
[[nodiscard]] std::string_view kind_text(TextKind kind);

}  // namespace kasen
