// Nodes that the lowering writes itself, as if the program had them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

[[nodiscard]] Node made_node(NodeKind kind, Mark mark, std::string text, std::vector<Node> args = {});
[[nodiscard]] Node made_name(Mark mark, std::string text);
[[nodiscard]] Node made_operation(ScalarOp op, Mark mark, std::vector<Node> args);

// A name of the lowering's own, `4:3 at` for a statement there: no program has names with a blank.
[[nodiscard]] std::string own_name(Mark mark, std::string_view name);

}  // namespace kasen::lang
