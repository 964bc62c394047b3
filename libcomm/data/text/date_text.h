// Dates and times in text as numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kasen {

// What a date is counted in, from 1970-01-01T00:00 UTC on. years: the year, and the part of it that is over.
enum class DateUnit : std::uint8_t { days, seconds, years };
inline constexpr std::array<std::pair<std::string_view, DateUnit>, 3> date_units{
    {{"days", DateUnit::days}, {"seconds", DateUnit::seconds}, {"years", DateUnit::years}}};

struct DateNumber {
  double value = 0;
  const char* fault = nullptr;  // why the text is no date
  const char* remedy = "";
};
// 2024-02-29 of ISO 8601, or 29.02.2024 and 1.2.2024, day first. Also with a time behind T or a blank (12:30, 12:30:05,
// 12:30:05.25), and then with a zone (Z, +01:00). Without a zone the time is UTC. Years are 0001 to 9999.
[[nodiscard]] DateNumber date_number(std::string_view text, DateUnit unit);

}  // namespace kasen
