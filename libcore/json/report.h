// The frame of every report in JSON: what it is, and the version of its form (docs/schemas has one schema a kind).
#pragma once

#include <string>
#include <string_view>

#include "libcore/json/text.h"

namespace kasen {

// It grows when a field of a report goes, or gets another meaning. A new field does not change it.
inline constexpr int report_version = 1;

// {"kind": KIND, "version": 1}, to which the report adds its fields.
[[nodiscard]] inline Json new_report(std::string_view kind) { return {{"kind", kind}, {"version", report_version}}; }

// The beginning of a report whose list is written piece by piece, since it may be larger than memory: all up to the `[`
// of this list. "]}" ends it.
[[nodiscard]] inline std::string begin_report(std::string_view kind, std::string_view list) {
  std::string text = json_text(new_report(kind), -1);
  text.back() = ',';
  return text + json_text(Json(list), -1) + ":[";
}

// A report as a tool prints it: it ends with a line end.
[[nodiscard]] inline std::string report_document(const Json& report, int indent = 2) {
  return json_text(report, indent) + '\n';
}

}  // namespace kasen
