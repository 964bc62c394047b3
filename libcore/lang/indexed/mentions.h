// Names in the indices of elements, and kinds of loops. Internal to this folder.
#pragma once

#include <algorithm>
#include <string>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

[[nodiscard]] inline bool mentions(const Node& node, const std::string& name) {
  if (node.kind == NodeKind::name) return node.text == name;
  return std::any_of(node.args.begin(), node.args.end(), [&](const Node& arg) { return mentions(arg, name); });
}

// Calls use(base, index) for each index of an element in the node.
template <class Use>
void for_each_index(const Node& node, const Use& use) {
  for (std::size_t i = 1; node.kind == NodeKind::index && i < node.args.size(); ++i) use(node.args[0], node.args[i]);
  for (const Node& arg : node.args) for_each_index(arg, use);
}

[[nodiscard]] inline bool is_mean(const Node& loop) { return loop.suffix == "mean"; }

}  // namespace kasen::lang
