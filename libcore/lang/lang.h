/// \file
/// The language (docs/language.md): program text in, level 1 IR out.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "libcore/ir/module.h"

namespace kasen {

/// `defines`: `-D NAME=VALUE` for consts (and for params: their default). Throws UserError(bad_input) with
/// file:line:column and the source line, or ExitStatus::usage for a define whose name is unknown.
[[nodiscard]] Module compile_program(std::string_view text, const std::string& file,
                                     const std::map<std::string, std::string>& defines);

}  // namespace kasen
