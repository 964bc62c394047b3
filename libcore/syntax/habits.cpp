#include "libcore/syntax/habits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace kasen::lang {
namespace {

constexpr std::array rows{
#define SAME(names, write, why) Habit{names, write, "", why, false},
#define VALUE(names, write, why) Habit{names, write, "", why, true},
#define NONE(names, write, what, why) Habit{names, write, what, why, false},
#include "libcore/syntax/habits.def"
#undef SAME
#undef VALUE
#undef NONE
};

// True if the words, which are separated by blanks, contain this one.
bool holds(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

struct SignRow {
  std::string_view before, here, next;  // empty: any
  std::string_view remedy;
};

// The first match counts. `x` matches any name.
constexpr std::array signs{
    SignRow{"", "is", "", "write a == b"},
    SignRow{"<", ">", "", "write a != b"},
    SignRow{"", "if", "", "write if c then a else b"},
    SignRow{":", "=", "", "write x = value"},
    SignRow{"", ":", "=", "write x = value"},
    SignRow{"", "<", "-", "write x = value"},
    SignRow{"<", "<", "", "write shift_left(k, 2)"},
    SignRow{">", ">", "", "write shift_right(k, 2)"},
    SignRow{"", "+", "+", "write x = x + 1"},
    SignRow{"", "-", "-", "write x = x - 1"},
    SignRow{"", "=", "", "write == to compare; a statement gives one name a value"},
    SignRow{"", "==", "", "write = to give a name a value; == compares"},
    SignRow{"", "/", "*", "a comment begins with # and ends with its line"},
    SignRow{"", "//", "", "a comment begins with #; // divides and rounds down"},
    SignRow{"", ".", "", "write 0.5 for .5"},
    SignRow{"%", "*", "%", "write A @ B for the product of matrices"},
    SignRow{"%", "%", "", "write a % b for the remainder, and a // b for the quotient rounded down"},
    SignRow{".", "*", "", "write A * B: operators work element by element, and A @ B is the product"},
    SignRow{".", "/", "", "write A / B: operators work element by element"},
    SignRow{".", "^", "", "write A ^ 2: operators work element by element"},
    SignRow{"", "for", "", "write [i in N: x[i] + 1], or sum(i in N: x[i])"},
};

// Words that begin statements in other languages.
struct WordRow {
  std::string_view words, remedy;
};
constexpr std::array statement_words{
    WordRow{"function func fun void proc sub",
            "write fn f(x) = ... of elements, or def f(A) { ... return x } of arrays"},
    WordRow{"let var val auto int float double real long", "write x = value, or x : f64[N] = value"},
    WordRow{"import from using include library require",
            "leave the line out; use \"file.ks\" takes functions of another file"},
    WordRow{"return", "write the value alone: it ends a fn, fn f(x) { y = 2 * x; y + 1 }"},
    WordRow{"else elif elseif elsif",
            "write if c { ... } else if d { ... } else { ... }, an else behind the closing brace"},
    WordRow{"continue next pass", "write the rest of the block into a branch: if !c { ... }"},
    WordRow{"exit stop leave", "write break, which ends the loop around it"},
    WordRow{"end endif endfor endwhile done fi esac begin", "leave it out: a block stands in braces"},
    WordRow{"do repeat until loop foreach parfor", "write while c { ... }, or for i in 0..n { ... }"},
};

}  // namespace

std::span<const Habit> habits() { return rows; }

const Habit* find_habit(std::string_view name, bool value) {
  const auto fits = [&](const Habit& habit) { return habit.value == value && holds(habit.names, name); };
  const auto row = std::find_if(rows.begin(), rows.end(), fits);
  return row == rows.end() ? nullptr : &*row;
}

std::string habit_remedy(const Habit& habit) {
  if (habit.what.empty()) return fmt::format("write {}", habit.write);
  return fmt::format("the nearest form is {}, {}", habit.write, habit.what);
}

std::string_view habit_type(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 5> types{{{"f64", "float double float64 real number Float"},
                                                                  {"f32", "float32 single half"},
                                                                  {"i64", "int int64 integer long Int size_t uint64"},
                                                                  {"i32", "int32 uint32 short"},
                                                                  {"bool", "boolean logical Bool"}}};
  for (const auto& [type, names] : types) {
    if (holds(names, name)) return type;
  }
  return {};
}

std::string_view statement_remedy(std::string_view word) {
  for (const WordRow& row : statement_words) {
    if (holds(row.words, word)) return row.remedy;
  }
  return {};
}

std::string axis_remedy(std::string_view name) {
  if (!holds("row rows col cols column columns axis", name)) return {};
  return "dimensions have names: with A over [N, F], sum(A, over F), or sum(A, over columns), has a sum for each row";
}

std::string_view character_remedy(char character, bool ends) {
  switch (character) {
    case '&':
      return "write a && b; of the bits of i64, bit_and(a, b)";
    case '|':
      return "write a || b; of the bits of i64, bit_or(a, b)";
    case '~':
      return "write !a, or a != b; of the bits of i64, bit_not(a)";
    case '?':
      return "write if c then a else b";
    case '"':
      return "leave it out: a program holds numbers, no texts";
    case '\\':
      return ends ? "leave it out: a line continues after an operator, and inside ( ) and [ ]"
                  : "write solve(A, b) for the solution of A @ x = b, with A of local dimensions";
    default:
      return {};
  }
}

std::string_view sign_remedy(const Around& at) {
  const auto fits = [](std::string_view wanted, std::string_view found) { return wanted.empty() || wanted == found; };
  if (at.here == ":" && at.line_ends) return "blocks stand in braces: while c { ... }";
  if (at.here == ":" && at.behind_number)
    return "write i64(index(N)) for 0, 1, 2, ..., or dim K = N[1:10] for a part of N";
  for (const SignRow& row : signs) {
    if (fits(row.before, at.before) && fits(row.here, at.here) && fits(row.next, at.next)) return row.remedy;
  }
  return {};
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates, Slips slips) {
  constexpr size_t longest = 40;                            // comparing is quadratic in the letters
  if (name.size() < 2 || name.size() > longest) return {};  // any letter is near any other
  std::vector<std::string> short_ones;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(short_ones),
               [&](const std::string& c) { return c.size() <= longest && c != name; });
  const std::string found = nearest_name(name, short_ones, slips);
  return found.empty() ? std::string{} : fmt::format("did you mean '{}'?", found);
}

}  // namespace kasen::lang
