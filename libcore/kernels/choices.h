// The choices between ways in which generated kernels do the same (choices.def), and the trials that decide them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kasen {

enum class Choice : std::uint8_t {
#define CHOICE(name, ...) name,
#include "libcore/kernels/choices.def"
#undef CHOICE
};
enum class Way : std::uint8_t { first, second };

struct ChoiceRow {
  std::string_view name;
  std::array<std::string_view, 2> keys, ways;  // of a machine profile; for people
  std::string_view timed;
};
inline constexpr std::array choice_rows{
#define CHOICE(name, first_key, first, second_key, second, timed) \
  ChoiceRow{#name, {#first_key, #second_key}, {first, second}, timed},
#include "libcore/kernels/choices.def"
#undef CHOICE
};

template <class T>
struct ByChoice {
  std::array<T, choice_rows.size()> values{};

  [[nodiscard]] T& operator[](Choice choice) { return values.at(static_cast<std::size_t>(choice)); }
  [[nodiscard]] const T& operator[](Choice choice) const { return values.at(static_cast<std::size_t>(choice)); }
  friend bool operator==(const ByChoice&, const ByChoice&) = default;
};
using Ways = ByChoice<Way>;

// Seconds that each way takes. Both 0: not tried. Only the first 0: this processor does not have it.
struct WayTimes {
  double first = 0, second = 0;
  friend bool operator==(const WayTimes&, const WayTimes&) = default;
};
using TrialTimes = ByChoice<WayTimes>;

// The way that a trial shows: the first unless it is slower by more than noise, or missing.
[[nodiscard]] Way chosen(const WayTimes& trial);
[[nodiscard]] Ways chosen(const TrialTimes& trials);

// Trials as a machine profile keeps them, and where they were made. They decide only there.
struct TrialProfile {
  std::string processor;  // "znver4, 512-bit vectors"
  std::string build;      // built_from()
  TrialTimes trials;

  [[nodiscard]] bool empty() const { return trials == TrialTimes(); }
};

// A choice that was made, for people.
struct MadeChoice {
  std::string choice, way, other;
  double gain = 0;  // the other way's time over that of this one; 0: not known
  std::string by;   // "trial", "profile", "request", or "default": it was not tried
};
[[nodiscard]] MadeChoice made_choice(Choice choice, Way way, const WayTimes& trial, std::string by);
// Returns "gathers (1.3 times as fast as loads one by one)".
[[nodiscard]] std::string choice_text(const MadeChoice& made);

}  // namespace kasen
