#include <fmt/format.h>

#include <utility>

#include "libcore/ir/layout.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

// The program's own line, for the caret, if the position is in the program's text.
std::string source_line(const Module& module, const Location& where) {
  const bool own = where.file.empty() || where.file == module.source_name;
  if (!own || where.line < 1 || static_cast<size_t>(where.line) > module.source.size()) return {};
  return module.source[static_cast<size_t>(where.line) - 1];
}

}  // namespace

void Faults::add(std::string what, std::string why, std::string remedy) {
  list_.push_back({Location{}, std::move(what), std::move(why), std::move(remedy), {}, -1});
}

void Faults::add(const Op& op, const std::string& what, std::string why, std::string remedy, int rule) {
  add_plain(op, "in '" + op_text(module_, op) + "': " + what, std::move(why), std::move(remedy));
  list_.back().rule = rule;
}

void Faults::add_plain(const Op& op, std::string what, std::string why, std::string remedy) {
  add_at(op.where, std::move(what), std::move(why), std::move(remedy));
}

void Faults::add_at(Location where, std::string what, std::string why, std::string remedy) {
  Diagnostic fault{std::move(where), std::move(what), std::move(why), std::move(remedy), {}, -1};
  fault.source_line = source_line(module_, fault.where);
  if (fault.where.line > 0 && fault.where.file.empty()) fault.where.file = module_.source_name;
  list_.push_back(std::move(fault));
}

std::string value_text(const Module& module, ValueId value) {
  return module.values.contains(value) ? '%' + module.value(value).name : std::string("%?");
}

std::string op_text(const Module& module, const Op& op) {
  std::string text;
  for (const ValueId id : op.results) text += (text.empty() ? "" : ", ") + value_text(module, id);
  if (!text.empty()) text += " = ";
  text += row(op.code).name;
  std::string fns;
  for (const FnId fn : op.fns) {
    if (!module.functions.contains(fn)) continue;
    fns += (fns.empty() ? "" : ", ") + module.fn(fn).name;
  }
  if (row(op.code).text == TextForm::labels) fns += "; " + op.name;
  if (!fns.empty()) text += '[' + fns + ']';
  if (op.code == OpCode::region) text += ' ' + std::string(region_name(op.kind));
  if (op.code == OpCode::output) text += fmt::format(" \"{}\"", op.name);
  if (op.results.empty()) {
    for (const ValueId id : op.operands) text += (id == op.operands.front() ? " " : ", ") + value_text(module, id);
  }
  return text;
}

std::string type_text(const Module& module, const Type& type) {
  const std::string text = print_type(module, type);
  return text.substr(0, text.find(" @"));
}

bool same_but_state(const Type& a, const Type& b) {
  return a.element == b.element && a.dims == b.dims && a.cuts == b.cuts && a.sparse == b.sparse && a.list == b.list;
}

const Op* find_input(const Module& module, ValueId value) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input && op.results.size() == 1 && op.results[0] == value) return &op;
  }
  return nullptr;
}

std::vector<Diagnostic> verify_module(const Module& module, LawChecker& laws) {
  Faults faults(module);
  verify_tables(module, faults);
  if (faults.empty()) verify_mesh(module, faults);
  if (faults.empty()) verify_structure(module, faults);
  if (faults.empty()) verify_types(module, faults);
  if (faults.empty()) verify_batches(module, faults);
  if (faults.empty()) verify_patterns(module, faults);
  if (faults.empty() && names_layouts(module)) verify_layouts(module, faults);
  if (faults.empty()) verify_blocks(module, faults);
  if (faults.empty()) verify_compressed(module, faults);
  if (faults.empty()) verify_ranges(module, faults);
  if (faults.empty()) verify_reducers(module, laws, faults);
  if (faults.empty() && module.level >= 2) verify_states(module, laws, faults);
  if (faults.empty() && module.level >= 3) verify_regions(module, faults);
  // Between fusing and assigning buffers a module of level 3 has no buffers. The executor then gives every value a
  // buffer of its own.
  if (faults.empty() && module.level >= 3 && !module.buffers.empty()) verify_buffers(module, faults);
  if (faults.empty() && module.level >= 3) verify_tiers(module, faults);
  if (faults.empty() && module.level >= 4) verify_schedule(module, faults);
  return faults.take();
}

void require_valid(const Module& module, LawChecker& laws) {
  std::vector<Diagnostic> faults = verify_module(module, laws);
  if (!faults.empty()) throw UserError(ExitStatus::bad_input, std::move(faults));
}

}  // namespace kasen
