#include "libcore/syntax/make_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen::lang {

Node made_node(NodeKind kind, Mark mark, std::string text, std::vector<Node> args) {
  Node node;
  node.kind = kind;
  node.mark = mark;
  node.text = std::move(text);
  for (const Node& arg : args) node.depth = std::max(node.depth, arg.depth + 1);
  node.args = std::move(args);
  return node;
}

Node made_name(Mark mark, std::string text) { return made_node(NodeKind::name, mark, std::move(text)); }

Node made_operation(ScalarOp op, Mark mark, std::vector<Node> args) {
  Node node = made_node(NodeKind::operation, mark, "", std::move(args));
  node.op = op;
  return node;
}

std::string own_name(Mark mark, std::string_view name) { return fmt::format("{}:{} {}", mark.line, mark.column, name); }

}  // namespace kasen::lang
