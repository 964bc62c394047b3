// The data dependence graph (KASEN's DDAG) for Graphviz: the user's lines, the bytes that each transition sends, and a
// legend.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libopt/cost/rules.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

const char* state_style(State::Kind kind) {
  switch (kind) {
    case State::Kind::unplaced:
      return "shape=box, fillcolor=\"#ffffff\"";
    case State::Kind::part:
      return "shape=box, fillcolor=\"#cfe8cf\"";
    case State::Kind::cons:
      return "shape=box, fillcolor=\"#cfdcf5\"";
    case State::Kind::pre:
      return "shape=box, fillcolor=\"#f8d9b8\"";
  }
  throw InternalError("a state outside the table");
}

// Shapes show matrices, shareds and lists; colours show the states of vectors.
std::string node_style(const Module& module, const Type& type) {
  if (type.sparse) return "shape=box, fillcolor=\"#dddddd\"";
  if (Layout(module, type).is_shared()) return "shape=ellipse, fillcolor=\"#f4f4f4\"";
  return state_style(type.state.kind);
}

class Graph {
 public:
  explicit Graph(const Module& module) : module_(module), names_(module), costs_(cost_context(module)) {}

  std::string text() {
    line("digraph " + quoted(module_.name) + " {");
    ++depth_;
    line(
        "rankdir=TB; node [style=filled, fontname=\"sans-serif\", fontsize=10]; edge [fontname=\"sans-serif\", "
        "fontsize=9];");
    if (module_.level > 1) legend();
    walk(module_.body);
    for (const std::string& edge : edges_) line(edge);
    --depth_;
    line("}");
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += std::string(static_cast<size_t>(2 * depth_), ' ') + content + '\n'; }

  // Writes the meaning of the colours.
  void legend() {
    open("states", "style=rounded; color=\"#bbbbbb\";");
    constexpr std::array kinds{std::pair{State::Kind::part, "@part: masters"},
                               std::pair{State::Kind::cons, "@cons: masters and slaves agree"},
                               std::pair{State::Kind::pre, "@pre: shares, to be reduced"}};
    int number = 0;
    for (const auto& [kind, meaning] : kinds) {
      line(fmt::format("legend{} [label={}, {}];", number++, quoted(meaning), state_style(kind)));
    }
    close();
  }

  void node(ValueId value, const Location& where) {
    Type shape = module_.type(value);
    const std::string state = shape.state.placed() ? "\\n" + state_text(module_, shape.state) : "";
    const std::string style = node_style(module_, shape);
    shape.state = State::unplaced();
    const std::string type = print_type(module_, shape);
    const std::string place = where.line > 0 ? fmt::format(" (line {})", where.line) : "";
    line(fmt::format("v{} [label=\"{}{}\\n{}{}\", {}];", value, module_.value(value).name, place,
                     type.substr(0, type.find(" @")), state, style));
  }

  void edge(ValueId from, ValueId to, const std::string& label, bool network) {
    edges_.push_back(fmt::format("v{} -> v{} [label={}{}];", from, to, quoted(label),
                                 network ? ", style=dashed, color=\"#b03030\", penwidth=2" : ""));
  }

  void open(const std::string& label, const char* style) {
    line(fmt::format("subgraph cluster_{} {{", clusters_++));
    ++depth_;
    line(fmt::format("label={}; {}", quoted(label), style));
  }

  void close() {
    --depth_;
    line("}");
  }

  void carry(const std::vector<ValueId>& from, size_t from_first, const std::vector<ValueId>& to, size_t to_first,
             const std::string& label) {
    for (size_t i = 0; i + from_first < from.size() && i + to_first < to.size(); ++i) {
      edge(from[i + from_first], to[i + to_first], label, false);
    }
  }

  void walk(const Block& block) {
    for (const Op& op : block.ops) visit(op);
  }

  void visit(const Op& op) {
    const OpGroup group = row(op.code).group;
    if (op.code == OpCode::region) {
      open(std::string(region_name(op.kind)), "style=filled; fillcolor=\"#fbf7e4\";");
      walk(op.blocks.at(0));
      close();
      for (const ValueId result : op.results) node(result, op.where);
      carry(op.blocks.at(0).ops.back().operands, 0, op.results, 0, "");
    } else if (group == OpGroup::control) {
      control(op);
    } else if (op.code == OpCode::output) {
      line(fmt::format("out_{} [label={}, shape=note, fillcolor=\"#ffffff\"];", outputs_, quoted(op.name)));
      edges_.push_back(fmt::format("v{} -> out_{};", op.operands.at(0), outputs_++));
    } else if (op.code != OpCode::yield) {
      for (const ValueId result : op.results) node(result, op.where);
      std::string label(row(op.code).name);
      if (group == OpGroup::transition) {
        label += fmt::format(": {} bytes", printed_form(transition_network(costs_, op).network).text(names_));
      }
      if (!op.fns.empty()) label += " " + module_.fn(op.fns[0]).name;
      for (const ValueId operand : op.operands) edge(operand, op.results.at(0), label, group == OpGroup::transition);
    }
  }

  void control(const Op& op) {
    const size_t own = op.code == OpCode::for_loop ? 2 : 0;
    for (size_t b = 0; b < op.blocks.size(); ++b) {
      const Block& block = op.blocks[b];
      std::string label(row(op.code).name);
      if (op.where.line > 0) label += fmt::format(" (line {})", op.where.line);
      if (b > 0) label = "else";
      open(label, "style=rounded; color=\"#888888\";");
      for (const ValueId arg : block.args) node(arg, op.where);
      walk(block);
      close();
      carry(op.operands, own, block.args, own > 0 ? 1 : 0, "first");
      if (!block.args.empty()) carry(block.ops.back().operands, 0, block.args, own > 0 ? 1 : 0, "next");
    }
    for (const ValueId result : op.results) node(result, op.where);
    for (const Block& block : op.blocks) {
      const bool loop = op.code != OpCode::if_else;
      carry(loop ? block.args : block.ops.back().operands, loop && own > 0 ? 1 : 0, op.results, 0, "");
    }
    if (op.code == OpCode::if_else) {
      for (const ValueId result : op.results) edge(op.operands.at(0), result, "if", false);
    }
  }

  const Module& module_;
  SymbolNames names_;
  CostContext costs_;
  std::string text_;
  std::vector<std::string> edges_;
  int depth_ = 0, clusters_ = 0, outputs_ = 0;
};

}  // namespace

std::string report_dot(const Module& module) { return Graph(module).text(); }

}  // namespace kasen
