// JSON as the files and reports of Kasen hold it. Keys are in a fixed order. The text is UTF-8 even if a quoted text (a
// program's comments, a file's name) is not.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace kasen {

using Json = nlohmann::ordered_json;

template <class Any>
[[nodiscard]] std::string json_text(const Any& json, int indent = 2) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A real number of a report. JSON has no NaN and no infinity, so these are the texts "nan", "inf" and "-inf".
[[nodiscard]] inline Json real_json(double number) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

}  // namespace kasen
