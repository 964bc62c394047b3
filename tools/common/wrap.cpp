#include "tools/common/wrap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace kasen::tools {
namespace {

size_t given_width() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    size_t number = 0;
    const auto [end, fault] = std::from_chars(columns, columns + std::strlen(columns), number);
    if (fault == std::errc() && number > 0) return number;
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// Counts letters, not bytes: the bytes after the first one of a UTF-8 letter take no column.
size_t letters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Splits at blanks outside brackets, and at blanks within them where the whole bracket is longer than `room`.
std::vector<std::string> pieces(std::string_view text, size_t room) {
  std::vector<std::string> found, group;
  int depth = 0;
  bool inside = false;  // a word
  const auto end_group = [&] {
    const std::string whole = fmt::format("{}", fmt::join(group, " "));
    if (!group.empty() && letters(whole) <= room) group = {whole};
    found.insert(found.end(), group.begin(), group.end());
    group.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == '\n') {
      inside = false;
      if (depth <= 0) end_group();
      continue;
    }
    if (!std::exchange(inside, true)) group.emplace_back();
    group.back() += c;
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
  }
  end_group();
  return found;
}

}  // namespace

size_t terminal_width() { return isatty(STDOUT_FILENO) == 1 ? std::max<size_t>(given_width(), 40) : 0; }

std::string fitted(std::string_view text, size_t width) {
  constexpr std::string_view mark = "...";
  if (width < 2 * mark.size()) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (letters(line) <= width) {
      result += line;
    } else {
      size_t bytes = 0, shown = 0;
      for (; shown < width - mark.size() || (line[bytes] & 0xC0) == 0x80; ++bytes)
        if ((line[bytes] & 0xC0) != 0x80) ++shown;
      result += line.substr(0, bytes);
      result += mark;
    }
    if (end != std::string_view::npos) result += '\n';
  }
  return result;
}

size_t text_width() { return std::clamp<size_t>(given_width(), 40, 120); }

std::string wrapped(std::string_view text, size_t width, size_t indent, size_t first) {
  const size_t room = width > indent ? width - indent : 1;
  std::string result;
  size_t column = first;
  bool at_start = true;  // of a line
  for (const std::string& piece : pieces(text, room)) {
    if (!at_start && column + 1 + letters(piece) > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      at_start = true;
    }
    if (!at_start) result += ' ';
    column += letters(piece) + (at_start ? 0 : 1);
    result += piece;
    at_start = false;
  }
  return result;
}

}  // namespace kasen::tools
