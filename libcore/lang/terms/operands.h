// Operands of two types: told with the side to convert, and with what a bool is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/lang/terms/builder.h"
#include "libcore/lang/terms/term.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

struct Operand {
  const Node* node;
  const Term* term;
};

// Refuses numbers of two types, and bools beside numbers or in the place of numbers. `sign`: the operator as written.
// `numbers`: it takes numbers alone, and gives one.
void refuse_mixed(const SourceText& source, const Builder& builder, Mark mark, std::string_view sign,
                  const std::vector<Operand>& operands, bool numbers);

}  // namespace kasen::lang
