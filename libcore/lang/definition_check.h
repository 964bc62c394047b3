// What is wrong with a def whoever calls it: unknown names and functions, parameters of one name, and defs that call
// themselves. Types and dimensions are those of the arguments, so calls alone find faults of these.
#pragma once

#include <vector>

#include "libcore/lang/terms/functions.h"

namespace kasen::lang {

// Of all defs among the statements.
[[nodiscard]] std::vector<Diagnostic> definition_faults(const std::vector<Statement>& all, const SourceText& source,
                                                        Functions& functions);

}  // namespace kasen::lang
