// Arguments that functions of libraries do not take: numbers, where plan knows them, and keys.
#pragma once

#include "libcore/lang/terms/scopes.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

// Refuses a call of `def` of a library whose arguments mean nothing there: numbers, or names of known numbers, outside
// of the function's domain; keys, where another function takes them.
void refuse_domain(const SourceText& source, const Scopes& scopes, const Module& module, const Statement& def,
                   const Node& call);

}  // namespace kasen::lang
