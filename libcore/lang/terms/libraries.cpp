#include "libcore/lang/terms/libraries.h"

#include <fmt/format.h>

namespace kasen::lang {

std::string_view library_with(std::string_view name) {
  for (const char* kind : {"def", "fn"}) {
    const std::string head = fmt::format("\n{} {}(", kind, name);
    for (const Library& library : libraries()) {
      if (library.text.find(head) != std::string_view::npos) return library.name;
    }
  }
  return {};
}

}  // namespace kasen::lang
