// The text of a module (docs/ir.md). The same module gives the same bytes.
#include <fmt/format.h>

#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/scalar/element_range.h"
#include "libcore/text/print_blocks.h"
#include "libcore/text/scalar.h"

namespace kasen {
namespace {

std::string print_set(const SlaveSet& set) { return '{' + slaves_text(set) + '}'; }

struct ModulePrinter {
  const Module& m;
  std::string out;

  std::string state(const Type& type) const {
    const State& s = type.state;
    const std::string set = s.slaves.empty() && Layout(m, type).is_shared() ? "" : print_set(s.slaves);
    switch (s.kind) {
      case State::Kind::unplaced:
        return "@?";
      case State::Kind::part:
        return "@part";
      case State::Kind::cons:
        return "@cons" + set;
      default:
        return fmt::format("@pre({}){}", m.fn(s.reducer).name, set);
    }
  }

  std::string type_of(ValueId id) const {
    const Value& v = m.value(id);
    std::string text = print_type(m, v.type);
    if (v.buffer != no_buffer) text += fmt::format(" ~b{}", v.buffer);
    return text;
  }

  std::string values(const std::vector<ValueId>& ids, size_t from = 0) const {
    std::string text;
    for (size_t i = from; i < ids.size(); ++i) text += fmt::format("{}%{}", i > from ? ", " : "", m.value(ids[i]).name);
    return text;
  }

  std::string types(const std::vector<ValueId>& ids) const {
    std::string text;
    for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + type_of(id);
    return text;
  }

  std::string words(const Op& op) const {
    const ElementType& element = m.type(op.results[0]).element;
    std::string text;
    for (size_t p = 0; p < op.literal.size(); ++p) {
      text += text.empty() ? "" : ", ";
      text += literal_text(element.plane_scalar(static_cast<std::int64_t>(p)), op.literal[p]);
    }
    return op.literal.size() == 1 ? text : '(' + text + ')';
  }

  std::string fn_names(const Op& op) const {
    std::string text;
    for (const FnId f : op.fns) text += (text.empty() ? "" : ", ") + m.fn(f).name;
    return text;
  }

  std::string fns(const Op& op) const {
    std::string text = fn_names(op);
    for (size_t i = 0; i < op.over.size(); ++i) {
      text += (i > 0 ? ", " : text.empty() ? "over " : "; over ") + m.dim(op.over[i]).name;
    }
    return text.empty() ? "" : '[' + text + ']';
  }

  std::string dim_names(const std::vector<DimId>& dims) const {
    std::string text;
    for (const DimId dim : dims) text += (text.empty() ? "" : ", ") + m.dim(dim).name;
    return text;
  }

  static std::string displaced(const Op& op) {
    return op.literal.empty() ? "" : fmt::format("; by {}", displacement(op));
  }

  std::string factors(const Op& op) const {
    if (!is_onto(op)) return values(op.operands);
    return fmt::format("{} onto {}", values({op.operands[0], op.operands[1]}), values({op.operands[2]}));
  }

  // `(%p : f64[V] @part ~b2 = %p0, ...)`: the carried values of a loop from operand `first` on.
  std::string carried(const Op& op, size_t first, size_t first_arg) const {
    std::string text;
    for (size_t i = first; i < op.operands.size(); ++i) {
      const ValueId arg = op.blocks[0].args[i - first + first_arg];
      text += fmt::format("{}%{} : {} = %{}", text.empty() ? "" : ", ", m.value(arg).name, type_of(arg),
                          m.value(op.operands[i]).name);
    }
    return '(' + text + ')';
  }

  std::string head(const Op& op) const {
    const std::string name(row(op.code).name);
    switch (row(op.code).text) {
      case TextForm::functions:
        return name + fns(op) + (op.operands.empty() ? "" : ' ' + values(op.operands));
      case TextForm::name:
        return name + ' ' + quoted_text(op.name);
      case TextForm::named:
        return fmt::format("{} {} {}", name, quoted_text(op.name), values(op.operands));
      case TextForm::words:
        return name + ' ' + words(op);
      case TextForm::default_words:
        return fmt::format("{} {} = {}", name, quoted_text(op.name), words(op));
      case TextForm::dim:
        return fmt::format("{}[{}]", name, m.dim(op.dim).name);
      case TextForm::observed:
        return fmt::format("{}[{}] {}", name, m.dim(op.dim).name, values(op.operands));
      case TextForm::relayout:
        if (op.dim == no_dim) return fmt::format("{} {}", name, values(op.operands));
        [[fallthrough]];
      case TextForm::derived:
        return fmt::format("{}[{} of {}{}] {}", name, m.dim(op.dim).name, dim_names(op.over), displaced(op),
                           values(op.operands));
      case TextForm::dim_of:
        return fmt::format("{}[{} of {}] {}", name, m.dim(op.dim).name, m.dim(op.over.at(0)).name, values(op.operands));
      case TextForm::along:
        return fmt::format("{}[{}] {}", name, m.dim(op.over.at(0)).name, values(op.operands));
      case TextForm::labels:
        return fmt::format("{}[{}; {}] {}", name, fn_names(op), op.name, factors(op));
      case TextForm::rows:
        return fmt::format("{}{} {} rows {}", name, fns(op), values(op.operands), op.at_rows);
      case TextForm::while_loop:
        return fmt::format("{} {} test {}", name, carried(op, 0, 0), op.test);
      case TextForm::for_loop:
        return fmt::format("{} %{} : {} in {} {}{}", name, m.value(op.blocks[0].args[0]).name,
                           type_of(op.blocks[0].args[0]), values({op.operands[0], op.operands[1]}),
                           op.down ? "down " : "", carried(op, 2, 1));
      case TextForm::region:
        if (is_blocks(op)) return fmt::format("{} blocks{} {}", name, text::grid_text(m, op), carried(op, 0, 0));
        return fmt::format("{} {} ({})", name, region_name(op.kind), values(op.operands));
    }
    throw InternalError("an operator without a form of text");
  }

  std::string tail(const Op& op) const {
    std::string text = text::placement_text(op);
    if (op.likely) text += " likely";
    if (op.speculated) text += " speculated";
    if (op.expect >= 0) text += fmt::format(" expect {}", op.expect);
    if (!op.results.empty()) text += " : " + types(op.results);
    return text + place(op.where);
  }

  [[nodiscard]] std::string place(const Location& where) const {
    if (where.line == 0 || (!m.text_name.empty() && where.file == m.text_name)) return {};
    const bool elsewhere = where.file != m.source_name && !where.file.empty();
    return " at " + (elsewhere ? quoted_text(where.file) + ' ' : std::string()) +
           fmt::format("{}:{}", where.line, where.column);
  }

  void block(const Block& b, int indent) {
    for (const Op& op : b.ops) {
      out += std::string(static_cast<size_t>(indent), ' ');
      if (!op.results.empty()) out += values(op.results) + " = ";
      out += head(op) + tail(op);
      for (size_t i = 0; i < op.blocks.size(); ++i) {
        out += i == 0 ? " {\n" : " else {\n";
        block(op.blocks[i], indent + 2);
        out += std::string(static_cast<size_t>(indent), ' ') + '}';
      }
      out += '\n';
    }
    if (b.schedule.empty()) return;
    const std::string before(static_cast<size_t>(indent), ' ');
    out += before + "schedule {\n";
    for (const ScheduleLine& line : b.schedule) out += before + "  " + print_line(m, b, line) + '\n';
    out += before + "}\n";
  }

  void laws(std::string_view word, const std::vector<LawUse>& uses) {
    for (const LawUse& use : uses) {
      const std::string with = use.reducer == no_fn ? "" : ", " + m.fn(use.reducer).name;
      out += fmt::format("  {} {}({}{}) operand {} by {}{}\n", word, law_name(use.kind), m.fn(use.fn).name, with,
                         use.operand, quoted_text(use.basis), place(use.where));
    }
  }

  void mesh() {
    for (size_t i = 0; i < m.mesh.size(); ++i) {
      out += fmt::format("{}{} = {}", i == 0 ? "  mesh " : ", ", m.mesh[i].name, m.mesh[i].size);
    }
    if (!m.mesh.empty()) out += '\n';
    std::string nodes;
    for (const MeshAxis& axis : m.mesh) {
      if (axis.crosses_nodes) nodes += (nodes.empty() ? "  nodes " : ", ") + axis.name;
    }
    if (!nodes.empty()) out += nodes + '\n';
  }

  void declarations() {
    mesh();
    for (const DimId id : m.dims.ids()) {
      const Dimension& d = m.dim(id);
      if (d.is_workers()) {
        out += fmt::format("  dim {} workers\n", d.name);
        continue;
      }
      const std::string value = d.is_derived() ? derivation_text(m, id) : fmt::format("{}", d.size);
      const bool known = d.is_derived() || d.size >= 0;
      const char* const is = d.is_observed() || fills(d.derived) ? " " : " = ";
      const std::string of = d.is_entries() ? " entries " + quoted_text(d.entries_of) : "";
      out += fmt::format("  dim {}{}{}{}\n", d.name, of, d.local ? " local" : "", known ? is + value : "");
    }
    for (const Constant& c : m.constants)
      out += fmt::format("  const {} = {}\n", c.name, literal_text(c.scalar, c.value));
    for (const auto& [input, file] : m.files) out += "  file " + quoted_text(input) + " " + quoted_text(file) + '\n';
    for (const ScalarFunction& f : m.functions) out += "  " + print_function(m, f) + '\n';
    for (const RangeAssumption& r : m.ranges) {
      const std::string place = r.place < 0 ? "" : fmt::format(" at {}", r.place);
      out += "  assume " + quoted_text(r.name) + place + interval_text(r.range) + '\n';
    }
    laws("assume", m.assumptions);
    laws("law", m.laws);
    if (!m.fitted_to.empty()) out += "  fitted " + quoted_text(m.fitted_to) + '\n';
    if (!m.planned_by.empty()) out += "  planned " + quoted_text(m.planned_by) + '\n';
    if (m.memory > 0) out += fmt::format("  memory {}\n", m.memory);
    for (const BufferId id : m.buffers.ids()) {
      const BufferDecl& b = m.buffers[id];
      Type type;
      type.element = b.element;
      type.dims = b.dims;
      type.cuts = b.cuts;
      std::string text = print_type(m, type);
      text.resize(text.size() - 3);  // without the state " @?"
      for (const SlaveSet& set : b.holds) text += ' ' + print_set(set);
      if (b.on_disk) text += " on disk";
      out += fmt::format("  buffer ~b{} : {}\n", id, text);
    }
  }

  std::string print(bool with_history) {
    out = fmt::format("kir {} level {}\n", names_layouts(m) ? 2 : 1, m.level);
    if (with_history) {
      for (const std::string& line : m.history) out += "## " + line + '\n';
    }
    if (!m.source_name.empty()) out += "source " + quoted_text(m.source_name) + '\n';
    for (const std::string& line : m.source) out += line.empty() ? "|\n" : "| " + line + '\n';
    out += "module " + m.name + " {\n";
    declarations();
    block(m.body, 2);
    return out + "}\n##end\n";
  }
};

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string print_element_type(const Module& module, const ElementType& type) {
  std::string text;
  for (const Component& c : type.components) {
    std::string name(scalar_name(c.scalar));
    if (c.scalar == Scalar::id) name += '[' + (c.id_of == no_dim ? "?" : module.dim(c.id_of).name) + ']';
    text += text.empty() ? "" : ", ";
    text += c.count > 0 ? fmt::format("[{}; {}]", name, c.count) : name;
  }
  return type.tuple ? '(' + text + ')' : text;
}

std::string print_type(const Module& module, const Type& type) {
  std::string text = type.list > 0 ? fmt::format("list<{}> ", type.list) : "";
  text += print_element_type(module, type.element);
  bool told = !module.mesh.empty() || type.cuts.empty() || Layout(module, type).is_distributed();
  for (size_t i = 0; i < type.dims.size(); ++i) {
    text += (i == 0 ? "[" : ",") + module.dim(type.dims[i]).name;
    if (!type.cuts.empty()) text += cut_text(module, type.cuts[i]);
    if (!told && !module.dim(type.dims[i]).local) text += "/0";  // else it would have the default layout
    told = told || !module.dim(type.dims[i]).local;
  }
  if (!type.dims.empty()) text += ']';
  if (type.sparse) text += " sparse";
  if (type.compressed) text += " compressed";
  return text + ' ' + ModulePrinter{module, {}}.state(type);
}

std::string print_function(const Module& module, const ScalarFunction& fn) {
  std::string text = "fn " + fn.name + '(';
  for (size_t i = 0; i < fn.params.size(); ++i) {
    text += fmt::format("{}{}: {}{}", i > 0 ? ", " : "", fn.params[i].name,
                        print_element_type(module, fn.params[i].type), range_text(fn.params[i].range));
  }
  return text + ") -> " + print_element_type(module, fn.result()) + " = " + print_expression(fn.body, fn.params);
}

std::string print_module(const Module& module, bool with_history) {
  return ModulePrinter{module, {}}.print(with_history);
}

}  // namespace kasen
