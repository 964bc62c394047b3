#include "libopt/draw/theme.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"

namespace kasen {
namespace {

struct Tone {
  std::string_view name, light, dark;
};

// Behind and of texts, then the states of a plan's values with the lines around them, then marks and curves.
constexpr std::array<Tone, 33> tones{
    {{"bg", "#fff", "#14181f"},          {"panel", "#f6f7f9", "#1c222b"},    {"ink", "#1c2330", "#e4e8ee"},
     {"soft", "#5d6675", "#9aa5b5"},     {"rule", "#d9dde4", "#323b48"},     {"link", "#1f5fbf", "#82b1ff"},
     {"part", "#d3efd6", "#1f4429"},     {"part-l", "#3f9150", "#62b374"},   {"cons", "#d6e4fb", "#213a63"},
     {"cons-l", "#3c6fc4", "#7ba6ec"},   {"pre", "#fde2c1", "#5a3a10"},      {"pre-l", "#c47a1c", "#e0a04c"},
     {"none", "#fff", "#1c222b"},        {"none-l", "#8a93a3", "#7d8797"},   {"shared", "#f1f1f4", "#2a313c"},
     {"shared-l", "#9aa2b0", "#7d8797"}, {"matrix", "#e7def5", "#3a2d55"},   {"matrix-l", "#7c5bb0", "#ac8fe0"},
     {"net", "#c2354a", "#ff7b8b"},      {"netbg", "#fde8ea", "#4a1f27"},    {"edge", "#8a93a3", "#7d8797"},
     {"region", "#fbf6df", "#2b2a1d"},   {"region-l", "#cdb65a", "#8d7c3a"}, {"loop", "#8a93a3", "#5d6675"},
     {"hot", "#ffd400", "#ffd400"},      {"good", "#1d7a38", "#6fcf86"},     {"bad", "#b3261e", "#ff8a80"},
     {"c1", "#3c6fc4", "#7ba6ec"},       {"c2", "#3f9150", "#62b374"},       {"c3", "#7c5bb0", "#ac8fe0"},
     {"c4", "#c47a1c", "#e0a04c"},       {"bar", "#e6e9ee", "#2a313c"},      {"label", "#485160", "#c0c8d4"}}};

std::string_view colour_of(std::string_view name, bool dark) {
  const auto* const found =
      std::find_if(tones.begin(), tones.end(), [&](const Tone& tone) { return tone.name == name; });
  if (found == tones.end()) throw InternalError("a colour outside the table");
  return dark ? found->dark : found->light;
}

std::string replaced(std::string_view rules, bool dark) {
  constexpr std::string_view begin = "var(--";
  std::string text;
  for (std::size_t at = 0; at < rules.size();) {
    const std::size_t next = std::min(rules.find(begin, at), rules.size());
    text += rules.substr(at, next - at);
    if (next == rules.size()) break;
    const std::size_t end = std::min(rules.find(')', next), rules.size());
    text += colour_of(rules.substr(next + begin.size(), end - next - begin.size()), dark);
    at = std::min(end + 1, rules.size());
  }
  return text;
}

}  // namespace

std::string theme_variables() {
  std::string light, dark;
  for (const Tone& tone : tones) {
    light += fmt::format("--{}:{};", tone.name, tone.light);
    if (tone.dark != tone.light) dark += fmt::format("--{}:{};", tone.name, tone.dark);
  }
  return fmt::format(":root{{color-scheme:light dark;{}}}\n@media(prefers-color-scheme:dark){{:root{{{}}}}}\n", light,
                     dark);
}

std::string in_both_themes(std::string_view rules) {
  return fmt::format("{}@media(prefers-color-scheme:dark){{{}}}", replaced(rules, false), replaced(rules, true));
}

}  // namespace kasen
