#include "tools/machine/byte_option.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace kasen::tools {

std::optional<std::int64_t> bytes_of(const std::string& text) {
  constexpr std::string_view units = "KMGT";
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  const size_t unit = rest.empty() ? units.size() : units.find(rest[0]);
  const bool decimal = rest.size() == 2 && rest[1] == 'B';
  const bool known = rest.empty() || (unit < units.size() && (rest.size() == 1 || decimal || rest.substr(1) == "iB"));
  const double times = static_cast<double>(unit) + 1;
  const double bytes = number * (rest.empty() ? 1 : decimal ? std::pow(10, 3 * times) : std::exp2(10 * times));
  if (fault != std::errc() || !known || !(bytes >= 1 && bytes < 1e18)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t byte_option(const po::variables_map& values, const std::string& name) {
  if (values.count(name) == 0) return 0;
  const std::string text = values[name].as<std::string>();
  if (const std::optional<std::int64_t> bytes = bytes_of(text)) return *bytes;
  wrong_value(name, fmt::format("--{} {} is no size", name, text),
              "it is bytes, or a number with K, M, G or T behind it", fmt::format("--{} 8G", name));
}

}  // namespace kasen::tools
