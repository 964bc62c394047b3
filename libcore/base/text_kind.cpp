#include "libcore/base/text_kind.h"

#include <algorithm>
#include <array>

namespace kasen {
namespace {

constexpr size_t looked_at = 4096;  // bytes that decide

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The first line that is neither blank nor a comment of a program or an edge list.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (!line.empty() && line[0] != '#') return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string_view first_word(std::string_view line) {
  const auto* const end =
      std::find_if_not(line.begin(), line.end(), [](char c) { return is_letter(c) || is_digit(c); });
  return line.substr(0, static_cast<size_t>(end - line.begin()));
}

bool begins_a_program(std::string_view line) {
  constexpr std::array<std::string_view, 11> words{"dim", "const", "param", "input",  "fn",    "list",
                                                   "for", "while", "if",    "assume", "output"};
  return std::find(words.begin(), words.end(), first_word(line)) != words.end();
}

}  // namespace

TextKind text_kind(std::string_view text) {
  if (text.starts_with("\x89HDF")) return TextKind::hdf5;
  text = text.substr(0, looked_at);
  if (text.find('\0') != std::string_view::npos) return TextKind::binary;
  const std::string_view line = first_line(text);
  if (line.empty()) return TextKind::empty;
  if (first_word(line) == "kir") return TextKind::ir;
  if (line[0] == '{') return TextKind::json;
  const bool number = is_digit(line[0]) ||
                      ((line[0] == '-' || line[0] == '+' || line[0] == '.') && line.size() > 1 && is_digit(line[1]));
  if (number || line.starts_with("%%MatrixMarket")) return TextKind::data;
  return begins_a_program(line) ? TextKind::program : TextKind::unknown;
}

std::string_view kind_text(TextKind kind) {
  switch (kind) {
    case TextKind::program:
      return "it is a program";
    case TextKind::ir:
      return "it is IR: it begins with 'kir'";
    case TextKind::data:
      return "it is data: it begins with numbers";
    case TextKind::json:
      return "it is JSON";
    case TextKind::hdf5:
      return "it is an HDF5 file";
    case TextKind::binary:
      return "it is no text";
    default:
      return {};
  }
}

}  // namespace kasen
