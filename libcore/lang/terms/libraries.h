// The libraries that every program may use: libcore/lang/library/*.ks, which the build embeds.
#pragma once

#include <string_view>
#include <vector>

namespace kasen::lang {

struct Library {
  std::string_view name, text;
};
[[nodiscard]] const std::vector<Library>& libraries();  // in order of their names

// The name of the first library that has a def or a fn of that name, or "".
[[nodiscard]] std::string_view library_with(std::string_view name);

}  // namespace kasen::lang
