#include "tools/common/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "tools/common/pages.h"
#include "tools/common/wrap.h"

namespace kasen::tools {
namespace {

constexpr size_t text_column = 26;  // the column of an option's description

// "  -o, --output FILE"
std::string left_side(const OptionRow& row) {
  const std::string letter = row.letter.empty() ? "    " : fmt::format("-{}, ", row.letter);
  return fmt::format("  {}--{}{}{}", letter, row.name, row.argument.empty() ? "" : " ", row.argument);
}

// The description, the words that it takes where the text does not name them, and the default.
std::string right_side(const OptionRow& row) {
  std::string text = row.text;
  const bool named = std::all_of(row.words.begin(), row.words.end(), [&](const std::string& word) {
    return row.text.find(word) != std::string::npos || row.argument.find(word) != std::string::npos;
  });
  if (!named) text += fmt::format("; one of {}", fmt::join(row.words, ", "));
  if (!row.standard.empty() && row.standard != "-") text += fmt::format(" [{}]", row.standard);
  return text;
}

std::string option_text(const OptionRow& row, size_t width) {
  const size_t column = width < 60 ? 8 : text_column;
  std::string text = left_side(row);
  const bool beside = text.size() + 2 <= column;
  text += beside ? std::string(column - text.size(), ' ') : '\n' + std::string(column, ' ');
  return text + wrapped(right_side(row), width, column, column) + '\n';
}

std::string options_text(const std::vector<OptionRow>& rows, size_t width) {
  std::string text, heading;
  for (const OptionRow& row : rows) {
    if (row.heading != heading) text += fmt::format("\n{}:\n", heading = row.heading);
    text += option_text(row, width);
  }
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

}  // namespace

std::string help_text(const Tool& tool) {
  const size_t width = text_width();
  const std::string command = command_of(tool.info), usage = fmt::format("Usage: {} ", command);
  const std::vector<std::string> topics = topics_of(command.substr(command.find(' ') + 1));
  std::string more;
  for (const std::string& topic : topics) more += fmt::format("{}kasen help {}", more.empty() ? "" : ", ", topic);
  if (!more.empty()) more = fmt::format("\nSee also: {}\n", wrapped(more, width, 10, 10));
  return fmt::format("Example:\n  {}\n\n{}\n{}{}\n{}{}", tool.info.example,
                     wrapped(fmt::format("{} {}.", command, tool.info.summary), width, 0, 0), usage,
                     wrapped(tool.info.usage, width, 4, usage.size()), options_text(option_rows(tool), width), more);
}

std::string help_text(const Tool& tool, const std::string& word) {
  const std::vector<OptionRow> rows = option_rows(tool);
  std::string wanted = lower(word);
  if (wanted.starts_with("--")) wanted.erase(0, 2);
  std::vector<OptionRow> found;
  std::vector<std::string> known = page_names();
  for (const OptionRow& row : rows) {
    known.push_back(row.name);
    known.push_back(lower(row.heading));
    if (lower(row.heading) == wanted || row.name == wanted || row.letter == word) found.push_back(row);
  }
  const Page* page = find_page(wanted);
  std::string text = page != nullptr ? page_text(*page, text_width()) : "";
  if (!found.empty()) text += options_text(found, text_width()).substr(text.empty() ? 1 : 0);
  if (!text.empty()) return text;
  fail(ExitStatus::usage, fmt::format("there is no help on '{}'", word), did_you_mean(wanted, known),
       fmt::format("see '{} --help'", command_of(tool.info)));
}

}  // namespace kasen::tools
