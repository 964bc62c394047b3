#include "libcomm/data/table/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

constexpr int most_columns = 1 << 20;  // the highest number in a choice

[[noreturn]] void fail_choice(const std::string& what, const std::string& why, const std::string& remedy = {}) {
  fail(ExitStatus::usage, what, why, remedy);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

int number_of(std::string_view digits) {
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc{} || end != digits.data() + digits.size() || value < 1 || value > most_columns)
    fail_choice(fmt::format("there is no column {}", digits), fmt::format("they count from 1, to {}", most_columns));
  return value;
}

// Nothing if the text is a name and no range.
std::optional<ColumnChoice> range_of(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view first = text.substr(0, end), rest = text.substr(end);
  if (first.empty() || rest.empty()) return std::nullopt;
  if (rest.starts_with("..") && (rest.size() == 2 || is_number(rest.substr(2))))
    fail_choice(fmt::format("'{}' is no range of columns", text), "a range has both of its ends",
                fmt::format("write {}-{}", first, rest.substr(2)));
  if (rest[0] != '-' || (rest.size() > 1 && !is_number(rest.substr(1)))) return std::nullopt;
  ColumnChoice range(number_of(first), rest.size() > 1 ? number_of(rest.substr(1)) : 0);
  if (range.last != 0 && range.last < range.first)
    fail_choice(fmt::format("the range {} is empty", text), "the smaller number comes first",
                fmt::format("write {}-{}", range.last, range.first));
  return range;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// a-e, the columns between those of two names, which may have such a sign themselves. Nothing where it is a column's
// name, or no such pair.
std::optional<std::pair<int, int>> range_of_names(const std::string& text, const FileColumns& columns,
                                                  const std::string& path) {
  const auto place = [&](const std::string& name) {
    const bool once = std::count(columns.names.begin(), columns.names.end(), name) == 1;
    return once ? std::find(columns.names.begin(), columns.names.end(), name) - columns.names.begin() + 1 : 0;
  };
  if (std::find(columns.names.begin(), columns.names.end(), text) != columns.names.end()) return std::nullopt;
  std::optional<std::pair<int, int>> found;
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1)) {
    const std::string first = text.substr(0, at), last = text.substr(at + 1);
    const std::pair ends(static_cast<int>(place(first)), static_cast<int>(place(last)));
    if (ends.first == 0 || ends.second == 0) continue;
    if (found)
      fail(ExitStatus::usage, fmt::format("the range {} has two meanings", text),
           fmt::format("columns {}-{} and {}-{} have such names", found->first, found->second, ends.first, ends.second),
           fmt::format("choose it by numbers, as {}-{}", found->first, found->second), {path});
    if (ends.first > ends.second)
      fail(ExitStatus::usage, fmt::format("the range {} is empty", text),
           fmt::format("'{}' is column {}, and '{}' is column {}", first, ends.first, last, ends.second),
           fmt::format("write {}-{}", last, first), {path});
    found = ends;
  }
  return found;
}

// What to say of a name that no column has.
std::string unknown_remedy(const std::string& name, const FileColumns& columns) {
  const auto known = [&](const std::string& end) {
    return std::find(columns.names.begin(), columns.names.end(), end) != columns.names.end();
  };
  const std::string range = columns.names.empty() ? "ranges are of numbers there, as 2-5"
                                                  : "ranges are of numbers, as 2-5, or of two of these names";
  const std::size_t sign = name.find('-');
  if (sign != std::string::npos && (known(name.substr(0, sign)) || known(name.substr(name.rfind('-') + 1))))
    return range;
  if (const std::string near = nearest_name(name, columns.names); !near.empty())
    return fmt::format("did you mean '{}'?", near);
  if (!columns.hint.empty()) return columns.hint;
  return sign == std::string::npos ? "choose it by its number, from 1" : range;
}

int column_named(const std::string& name, const FileColumns& columns, const std::string& path) {
  const auto& names = columns.names;
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end() && std::find(at + 1, names.end(), name) == names.end())
    return static_cast<int>(at - names.begin()) + 1;
  const std::string what = at == names.end() ? fmt::format("there is no column '{}'", name)
                                             : fmt::format("several columns are named '{}'", name);
  constexpr std::ptrdiff_t shown = 12;
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(std::ssize(names), shown));
  fail(ExitStatus::usage, what,
       names.empty()
           ? fmt::format("no line names the columns, which are 1 to {}", columns.count)
           : fmt::format("the first line has {}{}", fmt::join(some, ", "),
                         std::ssize(names) > shown ? fmt::format(" and {} more", names.size() - some.size()) : ""),
       at == names.end() ? unknown_remedy(name, columns) : "choose it by its number, from 1", {path});
}

std::pair<int, int> ends_of(const ColumnChoice& choice, const FileColumns& columns, const std::string& path) {
  if (choice.name.empty())
    return {choice.first, choice.last == 0 ? std::max(columns.count, choice.first) : choice.last};
  if (const auto range = range_of_names(choice.name, columns, path)) return *range;
  const int named = column_named(choice.name, columns, path);
  return {named, named};
}

}  // namespace

std::vector<ColumnChoice> parse_columns(std::string_view text) {
  std::vector<ColumnChoice> choices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = without_blanks(text.substr(at, comma - at));
    at = comma + 1;
    if (item.empty())
      fail_choice(fmt::format("'{}' has a place without a column", text), "columns stand between commas");
    if (is_number(item)) {
      choices.emplace_back(number_of(item));
    } else if (const auto range = range_of(item)) {
      choices.push_back(*range);
    } else {
      choices.emplace_back(std::string(item));
    }
  }
  return choices;
}

bool any_by_name(const std::vector<ColumnChoice>& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const ColumnChoice& c) { return !c.name.empty(); });
}

std::vector<int> chosen_columns(const std::vector<ColumnChoice>& choices, const FileColumns& columns,
                                const std::string& path) {
  std::vector<int> chosen;
  std::set<int> seen;
  const auto add = [&](int column) {
    if (column < 1 || (column > columns.count && !columns.open))
      fail(ExitStatus::usage, fmt::format("there is no column {}", column),
           fmt::format("the columns are 1 to {}", columns.count), columns.hint, {path});
    if (!seen.insert(column).second)
      fail(ExitStatus::usage, fmt::format("column {} is chosen twice", column), "", "name it once", {path});
    chosen.push_back(column);
  };
  for (const ColumnChoice& choice : choices) {
    const auto [first, last] = ends_of(choice, columns, path);
    for (std::int64_t column = first; column <= last; ++column) add(static_cast<int>(column));  // the last int, too
  }
  return chosen;
}

}  // namespace kasen
