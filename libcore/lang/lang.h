/// \file
/// The language (docs/language.md): program text in, level 1 IR out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/ir/module.h"

namespace kasen {

/// The text of a file by its path. Throws UserError where there is none.
using ReadFile = std::function<std::string(const std::string& path)>;

/// `defines`: `-D NAME=VALUE` for consts (and for params: their default). `read` reads the files that the program uses,
/// whose paths begin with the folder of `file`; without it, libraries alone can be used. Throws UserError(bad_input)
/// with file:line:column and the source line, or ExitStatus::usage for a define whose name is unknown.
[[nodiscard]] Module compile_program(std::string_view text, const std::string& file,
                                     const std::map<std::string, std::string>& defines, const ReadFile& read = {});

/// The text of the program and of all files that it uses: what a plan is made from. Throws as compile_program does.
[[nodiscard]] std::string whole_program(std::string_view text, const std::string& file, const ReadFile& read);

/// The level 1 module of a plan, made from the source that the plan carries, with its consts and the defaults of its
/// params put in. Nothing if the plan carries no source, or one that states something else by now.
[[nodiscard]] std::optional<Module> program_of(const Module& plan);

}  // namespace kasen
