#include "libcore/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/base/printable.h"
#include "libcore/base/text_width.h"

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

// The user's files have lines and names of any length.
constexpr size_t longest_line = 240, longest_field = 2000, before_caret = 120;

bool within_character(const std::string& text, size_t at) {  // of UTF-8
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

std::string shown_field(const std::string& text) {
  if (text.size() <= longest_field) return printable(text);
  size_t end = longest_field;
  while (end > 0 && within_character(text, end)) --end;
  return printable(text.substr(0, end)) + "...";
}

// The part of a line around a column, which counts bytes, and a caret under the character there. Tabs stay tabs, so
// that the caret stands where the terminal shows that.
std::string shown_line(const std::string& line, int column) {
  const auto at = static_cast<size_t>(std::max(column - 1, 0));
  size_t begin = line.size() > longest_line && at > before_caret ? std::min(at - before_caret, line.size()) : 0;
  while (begin > 0 && within_character(line, begin)) --begin;
  size_t end = std::min(line.size(), begin + longest_line);
  while (end > begin && within_character(line, end)) --end;
  const std::string dots = begin > 0 ? "..." : "";
  const std::string shown = printable(line.substr(begin, end - begin));
  std::string text = "\n  " + dots + shown + (end < line.size() ? "..." : "");
  if (column <= 0) return text;
  const std::string before = at > begin ? shown.substr(0, at - begin) : "";
  const std::string beyond(at > begin + before.size() ? at - begin - before.size() : 0, ' ');
  return text + "\n  " + std::string(dots.size(), ' ') + blanks_below(before) + beyond + '^';
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
  text += shown_field(d.what);
  if (d.rule >= 0) text += fmt::format(" (rule {})", d.rule);
  if (!d.why.empty()) text += "; " + shown_field(d.why);
  if (!d.remedy.empty()) text += "; " + shown_field(d.remedy);
  if (!d.source_line.empty()) text += shown_line(d.source_line, d.where.column);
  return text;
}

}  // namespace kasen
