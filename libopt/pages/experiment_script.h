// What the page of an experiment does beyond other pages. It comes behind their script, and uses it. Internal to
// libopt.
#pragma once

#include <string_view>

namespace kasen {

[[nodiscard]] std::string_view experiment_script();
[[nodiscard]] std::string_view experiment_script_hash();  // base64 of SHA-256

}  // namespace kasen
