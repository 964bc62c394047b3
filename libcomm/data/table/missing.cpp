#include "libcomm/data/table/missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "libcomm/data/text/number_text.h"

namespace kasen {
namespace {

// One text for each value, whatever its digits are: "-999.0" and "-9.99e2" are "-999e0". Nothing for what is no finite
// number.
std::optional<std::string> value_text(std::string_view number) {
  if (!looks_numeric(number)) return std::nullopt;
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.remove_prefix(1);
  if (number.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;  // inf and nan
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  std::int64_t power = 0;
  if (e < number.size()) {
    std::string_view digits = number.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), power);
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (fault != std::errc{} || power > most || power < -most) return std::nullopt;
  }
  std::string digits(number.substr(0, e));
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    power -= std::ssize(digits) - 1 - static_cast<std::int64_t>(point);
    digits.erase(point, 1);
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  const std::size_t last = digits.find_last_not_of('0') + 1;
  power += std::ssize(digits) - static_cast<std::int64_t>(last);
  digits.resize(last);
  return fmt::format("{}{}e{}", negative ? "-" : "", digits, power);
}

std::optional<std::string> value_text(std::string_view cell, const NumberStyle& style) {
  const std::optional<std::string> plain = style.plain_text(cell);
  return plain ? value_text(*plain) : std::nullopt;
}

}  // namespace

bool MissingRule::is_missing(std::string_view cell) const {
  static constexpr std::array<std::string_view, 10> always{"",     "NA",   "N/A",  "NaN", "nan",
                                                           "null", "NULL", "None", "?",   "-"};
  return std::find(always.begin(), always.end(), cell) != always.end() ||
         std::find(marks.begin(), marks.end(), cell) != marks.end();
}

MissingNumbers::MissingNumbers(const MissingRule& rule, const NumberStyle& style) : style_(style) {
  for (const std::string& mark : rule.marks) {
    std::optional<std::string> value = value_text(mark, style);
    if (!value) value = value_text(mark);
    if (value) values_.push_back(std::move(*value));
  }
}

bool MissingNumbers::has(std::string_view cell) const {
  if (values_.empty()) return false;
  const std::optional<std::string> value = value_text(cell, style_);
  return value && std::find(values_.begin(), values_.end(), *value) != values_.end();
}

}  // namespace kasen
