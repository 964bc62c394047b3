// JSON as the files of Kasen hold it: indented, and in UTF-8 even if a quoted text (a program's comments, a file's
// name) is not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kasen {

template <class Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace kasen
