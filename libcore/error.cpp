#include "libcore/error.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/printable.h"

namespace kasen {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += format_diagnostic(diagnostic);
  }
  return text;
}

// Tabs stay tabs in the line under the source, so that the caret stands where the terminal shows the column.
std::string caret_line(const std::string& source, int column) {
  std::string line;
  for (int i = 0; i + 1 < column; ++i) {
    const bool tab = static_cast<size_t>(i) < source.size() && source[static_cast<size_t>(i)] == '\t';
    line += tab ? '\t' : ' ';
  }
  return line + '^';
}

}  // namespace

UserError::UserError(ExitStatus status, Diagnostic diagnostic)
    : UserError(status, std::vector<Diagnostic>{std::move(diagnostic)}) {}

UserError::UserError(ExitStatus status, std::vector<Diagnostic> diagnostics)
    : status_(status), diagnostics_(std::move(diagnostics)), text_(join(diagnostics_)) {}

void fail(ExitStatus status, std::string what, std::string why, std::string remedy, Location where) {
  Diagnostic diagnostic;
  diagnostic.where = std::move(where);
  diagnostic.what = std::move(what);
  diagnostic.why = std::move(why);
  diagnostic.remedy = std::move(remedy);
  throw UserError(status, std::move(diagnostic));
}

std::string format_diagnostic(const Diagnostic& d, bool colour) {
  std::string text;
  if (!d.where.file.empty()) text += printable(d.where.file) + ':';
  if (d.where.line > 0) text += fmt::format("{}:", d.where.line);
  if (d.where.line > 0 && d.where.column > 0) text += fmt::format("{}:", d.where.column);
  if (!text.empty()) text += ' ';
  text += colour ? "\x1b[1;31merror:\x1b[0m " : "error: ";
  text += printable(d.what);
  if (d.rule >= 0) text += fmt::format(" (rule {})", d.rule);
  if (!d.why.empty()) text += "; " + printable(d.why);
  if (!d.remedy.empty()) text += "; " + printable(d.remedy);
  if (!d.source_line.empty()) {
    text += "\n  " + printable(d.source_line);
    if (d.where.column > 0) text += "\n  " + caret_line(d.source_line, d.where.column);
  }
  return text;
}

}  // namespace kasen
