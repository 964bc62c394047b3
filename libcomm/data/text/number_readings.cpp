#include "libcomm/data/text/number_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "libcomm/data/text/number_text.h"

namespace kasen {
namespace {

struct Reading {
  NumberStyle style;
  std::string_view what, how;
};

constexpr std::array readings{
    Reading{{.point = ','}, "the comma is a decimal point", "--decimal ,"},
    Reading{{.point = ',', .group = '.'}, "points group digits", "--thousands ."},
    Reading{{.point = '.', .group = ','}, "commas group digits", "--thousands ,"},
    Reading{{.point = '.', .group = '\''}, "apostrophes group digits", "--thousands \"'\""},
    Reading{{.point = '.', .group = '_'}, "underscores group digits", "--thousands _"},
};
constexpr Reading comma_and_points{
    {.point = ',', .group = '.'}, "the comma is a decimal point, and points group digits", "--decimal , --thousands ."};

bool has(std::string_view cell, char c) { return cell.find(c) != std::string_view::npos; }

// Without blanks, also those that no line breaks at.
std::string_view trimmed(std::string_view text) {
  static constexpr std::array<std::string_view, 4> blanks{" ", "\t", "\xc2\xa0", "\xe2\x80\xaf"};
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view blank : blanks) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size()), cut = true;
      if (text.ends_with(blank)) text.remove_suffix(blank.size()), cut = true;
    }
  }
  return text;
}

// Groups of digits begin with another one than 0; a reading uses what the cell holds.
bool is_reading(std::string_view cell, const NumberStyle& style) {
  const std::size_t first = std::min(cell.find_first_not_of("+-"), cell.size());
  if (style.group != '\0' && (!has(cell, style.group) || cell.substr(first).starts_with('0'))) return false;
  if (style.group == '\0' && !has(cell, style.point)) return false;
  return reads_as(cell, style);
}

}  // namespace

bool reads_as(std::string_view cell, const NumberStyle& style) {
  const std::optional<std::string> plain = style.plain_text(cell);
  return plain && plain->find_first_of("0123456789") != std::string::npos && looks_numeric(*plain);
}

std::string other_readings(std::string_view cell, const NumberStyle& style, bool comma_separates) {
  struct Found {
    std::string_view what, how;
    std::string number;
  };
  std::vector<Found> found;
  if (!style.plain() && !has(cell, ',') && is_reading(cell, {}))
    found.push_back({"the point is a decimal point", "", std::string(cell)});
  for (const Reading& each : readings) {
    if (comma_separates && (each.style.uses(',') || !style.plain())) continue;
    if ((each.style.point == style.point && each.style.group == style.group) || !is_reading(cell, each.style)) continue;
    const bool both = each.style.group == '.' && has(cell, ',') && style.point != ',';
    const Reading& reading = both ? comma_and_points : each;
    found.push_back({reading.what, reading.how, *each.style.plain_text(cell)});
  }
  std::string text;
  for (const Found& each : found) {
    text += fmt::format("{}if {}{}", text.empty() ? "" : "; ", each.what,
                        found.size() > 1 ? fmt::format(" ({})", each.number) : "");
    text += each.how.empty() ? ", leave out --decimal and --thousands"
                             : fmt::format("{}{}", &each == found.data() ? ", say so: " : ": ", each.how);
  }
  return text;
}

BesideNumber beside_number(std::string_view cell, const NumberStyle& style) {
  constexpr std::string_view digits = "0123456789";
  std::size_t first = cell.find_first_of(digits);
  if (first == std::string_view::npos) return {};
  const std::size_t end = cell.find_last_of(digits) + 1;
  if (first > 0 && cell[first - 1] == style.point) --first;
  if (first > 0 && (cell[first - 1] == '-' || cell[first - 1] == '+')) --first;
  const std::string_view before = trimmed(cell.substr(0, first)), behind = trimmed(cell.substr(end));
  const std::string_view number = cell.substr(first, end - first);
  if (before.empty() && behind.empty()) return {};
  if (!reads_as(number, style) && other_readings(number, style, false).empty()) return {};
  return {number, before.empty()   ? fmt::format("'{}' stands behind the number", behind)
                  : behind.empty() ? fmt::format("'{}' stands before the number", before)
                                   : fmt::format("'{}' and '{}' stand around the number", before, behind)};
}

std::string comma_hint(const NumberStyle& style) {
  return fmt::format(
      "beside {} , other commas separate cells only where some of the first lines have cells in quotes: put the "
      "numbers with commas in quotes, or separate cells by ; or tabs",
      style.point == ',' ? "--decimal" : "--thousands");
}

}  // namespace kasen
