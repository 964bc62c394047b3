#include "libcomm/data/text/number_style.h"

#include <algorithm>
#include <cstddef>

namespace kasen {
namespace {

// The digits without what stands between their groups of three; nothing where other groups are.
std::optional<std::string> joined(std::string_view digits, char group) {
  std::string text;
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(digits.find(group), digits.size());
    const bool last = end == digits.size();
    const bool alone = first && last;
    if (!alone && (first ? end < 1 || end > 3 : end != 3)) return std::nullopt;
    text += digits.substr(0, end);
    if (last) return text;
    digits.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> NumberStyle::plain_text(std::string_view cell) const {
  if (plain()) return std::string(cell);
  const bool has_sign = cell.starts_with('-') || cell.starts_with('+');
  std::string text(cell.substr(0, has_sign ? 1 : 0));
  cell.remove_prefix(text.size());
  const std::size_t end = std::min(std::min(cell.find(point), cell.find_first_of("eE")), cell.size());
  const std::string_view whole = cell.substr(0, end);
  std::string_view rest = cell.substr(end);
  const std::optional<std::string> digits = group == '\0' ? std::string(whole) : joined(whole, group);
  if (!digits || digits->find('.') != std::string::npos) return std::nullopt;
  text += *digits;
  if (rest.starts_with(point)) {
    text += '.';
    rest.remove_prefix(1);
  }
  if (std::any_of(rest.begin(), rest.end(), [&](char c) { return c == '.' || uses(c); })) return std::nullopt;
  return text.append(rest);
}

}  // namespace kasen
