// The text of a schedule's lines (docs/ir.md, "The schedule").
#include <fmt/format.h>

#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libcore/ir/regions.h"
#include "libcore/text/scalar.h"

namespace kasen {
namespace {

// An operator by its first result. A region's exchange is named by its gather.
std::string op_name(const Module& module, const Block& block, int at, LineKind kind) {
  const Op& op = block.ops.at(static_cast<size_t>(at));
  const bool exchange = kind == LineKind::start || kind == LineKind::wait;
  if (exchange && is_epilogue(op)) return '%' + module.value(epilogue_gather(op).results.at(0)).name;
  if (!op.results.empty()) return '%' + module.value(op.results[0]).name;
  if (op.code == OpCode::output) return "output " + quoted_text(op.name);
  return fmt::format("op {}", at);
}

std::string op_names(const Module& module, const Block& block, const ScheduleLine& line) {
  std::string text;
  for (int i = 0; i < line.count; ++i) {
    text += (i == 0 ? " " : ", ") + op_name(module, block, line.op + i, line.kind);
  }
  return text;
}

std::string values(const Module& module, const ScheduleLine& line) {
  std::string text;
  for (const BufferId b : line.buffers) text += fmt::format("{}~b{}", text.empty() ? " " : ", ", b);
  for (const ValueId v : line.values) text += fmt::format("{}%{}", text.empty() ? " " : ", ", module.value(v).name);
  return text;
}

}  // namespace

std::string_view rows_name(LineRows rows) {
  switch (rows) {
    case LineRows::all:
      return "";
    case LineRows::ready:
      return "ready";
    case LineRows::ghosts:
      return "ghosts";
    case LineRows::rest:
      return "rest";
    case LineRows::joined:
      return "joined";
  }
  throw InternalError("rows outside the table");
}

std::string print_line(const Module& module, const Block& block, const ScheduleLine& line) {
  switch (line.kind) {
    case LineKind::alloc:
      return "alloc" + values(module, line);
    case LineKind::whole:
      return "whole" + values(module, line);
    case LineKind::move:
      return "move" + values(module, line);
    case LineKind::copy:
      return "copy" + values(module, line);
    case LineKind::form:
      return fmt::format("form {} for{}", line.form, values(module, line));
    case LineKind::free:
      return fmt::format("free form {}", line.form);
    case LineKind::run: {
      const std::string_view rows = rows_name(line.rows);
      return "run" + op_names(module, block, line) + (rows.empty() ? "" : " ") + std::string(rows);
    }
    case LineKind::start:
      return "start" + op_names(module, block, line);
    case LineKind::wait:
      return "wait" + op_names(module, block, line);
  }
  throw InternalError("a line outside the table");
}

}  // namespace kasen
