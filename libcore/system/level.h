// The kinds of processors that code can be generated for, and which of them this one is. Results have the same bits on
// all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kasen {

enum class Level : std::uint8_t { native, x86_64_v2, x86_64_v3, x86_64_v4, aarch64 };

// By their names, as --target takes them and as compilers call them; in the order of the enumerators.
constexpr std::array levels{
    std::pair<std::string_view, Level>{"native", Level::native},
    std::pair<std::string_view, Level>{"x86-64-v2", Level::x86_64_v2},
    std::pair<std::string_view, Level>{"x86-64-v3", Level::x86_64_v3},
    std::pair<std::string_view, Level>{"x86-64-v4", Level::x86_64_v4},
    std::pair<std::string_view, Level>{"aarch64", Level::aarch64},
};
[[nodiscard]] constexpr std::string_view name_of(Level level) {
  return levels.at(static_cast<std::size_t>(level)).first;
}

// The instructions that this processor lacks for it ("AVX-512", "x86-64"); empty: it can run such code.
[[nodiscard]] std::string lacking(Level level);

}  // namespace kasen
