// The libraries that every program may use: libcore/lang/library/*.ks, which the build embeds.
#pragma once

#include <string_view>
#include <vector>

namespace kasen::lang {

struct Library {
  std::string_view name, text;
};
[[nodiscard]] const std::vector<Library>& libraries();  // in order of their names

}  // namespace kasen::lang
