// Forms that people who come from other languages write: names that do not exist here, and signs that are not
// understood. Each has the form to write here instead.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libcore/base/suggest.h"

namespace kasen::lang {

struct Habit {
  std::string_view names;  // "zeros empty"
  std::string_view write;  // an expression, or a statement
  std::string_view what;   // empty: `write` is the same; else `write` comes nearest, and nothing has the name
  std::string_view why;    // may be empty
  bool value;              // the names stand for values, like `pi`, not for functions
};

[[nodiscard]] std::span<const Habit> habits();                               // the rows of habits.def
[[nodiscard]] const Habit* find_habit(std::string_view name, bool value);    // or null
[[nodiscard]] std::string habit_remedy(const Habit& habit);                  // "write fill(0.0, N)"
[[nodiscard]] std::string_view habit_type(std::string_view name);            // "f64" for `float`, or nothing
[[nodiscard]] std::string_view statement_remedy(std::string_view word);      // of `def`, `let`, `break`; or nothing
[[nodiscard]] std::string_view character_remedy(char character, bool ends);  // of `&`, `?`; or nothing. It ends a line
[[nodiscard]] std::string axis_remedy(std::string_view name);  // of `rows`, where a dimension is meant; or nothing

// The words and signs around a position where something else is meant.
struct Around {
  std::string_view before, here, next;
  bool line_ends = false;  // after `here`
  bool behind_number = false;
};
[[nodiscard]] std::string_view sign_remedy(const Around& at);  // "write && for 'and'", or nothing

// "did you mean 'degree'?" for the candidate nearest to `name` (libcore/base/suggest.h), or "".
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates,
                                       Slips slips = Slips::many);

}  // namespace kasen::lang
