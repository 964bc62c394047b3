#include "libcomm/data/text/number_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "libcomm/data/text/decimal_text.h"
#include "libcomm/data/text/text_pieces.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::ptrdiff_t longest_quoted = 60;

bool ends_number(char c) { return ends_field(c) || c == ':'; }

// The end of the text that from_chars may read: no number goes on behind it. (The line's end would do, but each number
// of a long line would search for it in vain.)
const char* number_end(const char* p) {
  while (!ends_number(*p)) ++p;
  return p;
}

[[noreturn]] void fail_number(const char* p, std::string_view type, std::string_view why) {
  if (*p == '\n') fail_text(p, "a value is missing", "the line ends here");
  const std::string is_none = fmt::format("is not a value of type {}", type);
  throw TextFault{p, fmt::format("'{}' {}", field_at(p), is_none), std::string(why), {}, is_none};
}

// from_chars reports too large and too small numbers alike: only the former are an error.
template <class T>
bool underflows(const char* p, const char* end, T& value) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(p, end);
  const double wide = strtod_l(text.c_str(), nullptr, c_locale);
  value = static_cast<T>(wide);
  return std::abs(wide) < 1;
}

template <class T>
const char* parse_float(const char* p, std::byte* plane, std::int64_t i) {
  T& value = reinterpret_cast<T*>(plane)[i];
  const char* const start = p;
  if (*p == '+' && p[1] != '-') ++p;
  if (const char* const decimal = parse_decimal(p, value); decimal != nullptr && ends_number(*decimal)) return decimal;
  const char* const limit = number_end(p);
  const auto [end, error] = std::from_chars(p, limit, value);
  constexpr std::string_view type = std::is_same_v<T, double> ? "f64" : "f32";
  if (error == std::errc::invalid_argument || !ends_number(*end)) fail_number(start, type, {});
  if (error == std::errc::result_out_of_range && !underflows(p, end, value)) {
    fail_number(start, type, "it is too large");
  }
  return end;
}

// "3.0", "9007199254740993e0", "1.5e1": the exact integer of a decimal number, or why it is none.
struct Whole {
  std::int64_t value = 0;
  std::string_view fault;
};

Whole whole_number(std::string_view text) {
  constexpr std::string_view too_large = "it is too large", not_whole = "it is not an integer";
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (!is_digit(text[0]) && text[0] != '.') return {0, not_whole};  // inf and nan
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::int64_t power = 0;
  if (e < text.size()) {
    const char* const from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
    if (std::from_chars(from, text.data() + text.size(), power).ec == std::errc::result_out_of_range)
      power = text[e + 1] == '-' ? -(std::int64_t{1} << 60) : std::int64_t{1} << 60;
  }
  std::string digits(text.substr(0, e));
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    power -= std::ssize(digits) - 1 - static_cast<std::int64_t>(point);
    digits.erase(point, 1);
  }
  digits.erase(0, digits.find_first_not_of('0'));
  const std::size_t last = digits.find_last_not_of('0') + 1;  // 0 if none is left
  power += std::ssize(digits) - static_cast<std::int64_t>(last);
  digits.resize(last);
  if (digits.empty()) return {};
  if (power < 0) return {0, not_whole};
  if (power + std::ssize(digits) > 19) return {0, too_large};
  digits = (negative ? "-" : "") + digits + std::string(static_cast<std::size_t>(power), '0');
  Whole whole;
  const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), whole.value).ec;
  return error == std::errc{} ? whole : Whole{0, too_large};
}

// Digits alone that fit in T with certainty; null for all others.
template <class T>
const char* parse_plain(const char* p, T& value) {
  const bool negative = *p == '-';
  const char* const first = negative ? p + 1 : p;
  std::uint64_t digits = 0;
  const char* const end = read_digits(first, digits);
  if (end == first || end - first > std::numeric_limits<T>::digits10 || !ends_number(*end)) return nullptr;
  value = static_cast<T>(negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits));
  return end;
}

template <class T>
const char* parse_integer(const char* p, std::byte* plane, std::int64_t i) {
  T& value = reinterpret_cast<T*>(plane)[i];
  constexpr Scalar scalar = sizeof(T) == 8 ? Scalar::i64 : Scalar::i32;
  const char* const start = p;
  if (*p == '+' && p[1] != '-') ++p;
  if (const char* const plain = parse_plain(p, value)) return plain;
  const char* const limit = number_end(p);
  const auto [end, error] = std::from_chars(p, limit, value);
  if (error == std::errc{} && ends_number(*end)) return end;
  double real = 0;
  const auto [real_end, real_error] = std::from_chars(p, limit, real);
  if (real_error != std::errc{} || !ends_number(*real_end)) fail_number(start, scalar_name(scalar), {});
  const Whole whole = whole_number({p, real_end});  // not through the double, which may be another number
  if (!whole.fault.empty()) fail_number(start, scalar_name(scalar), whole.fault);
  if (!store_number(scalar, whole.value, plane, i)) fail_number(start, scalar_name(scalar), "it is too large");
  return real_end;
}

template <class T>
const char* parse_whole_float(const char* p, std::byte* plane, std::int64_t i) {
  const char* const end = parse_float<T>(p, plane, i);
  const T value = reinterpret_cast<const T*>(plane)[i];
  if (!std::isfinite(value) || std::trunc(value) != value)
    fail_text(p, fmt::format("'{}' is not an integer", field_at(p)), "the header announces integers",
              "announce real in the header, or fix the value");
  return end;
}

const char* parse_bool(const char* p, std::byte* plane, std::int64_t i) {
  const std::string_view field = field_at(p);
  const bool yes = field == "1" || field == "true" || field == "True";
  if (!yes && field != "0" && field != "false" && field != "False") {
    fail_number(p, "bool", "it is none of 0, 1, false, true");
  }
  plane[i] = static_cast<std::byte>(yes);
  return p + field.size();
}

const char* parse_nothing(const char* p, std::byte*, std::int64_t) { return p; }

constexpr std::array<ParseInto, 7> parsers{
    parse_float<double>, parse_float<float>, parse_integer<std::int64_t>, parse_integer<std::int32_t>,
    parse_bool,          parse_nothing,      parse_integer<std::int64_t>,
};

}  // namespace

std::string_view field_at(const char* p) {
  const char* end = p;
  while (!ends_field(*end) && end - p < longest_quoted) ++end;
  return {p, static_cast<size_t>(end - p)};
}

std::string_view cell_at(const char* p, char delimiter) {
  const char* end = p;
  while (*end != '\n' && *end != delimiter && !(delimiter == ' ' && is_blank(*end)) && end - p <= longest_quoted) ++end;
  if (end - p > longest_quoted) {
    --end;
    while (end > p && (static_cast<unsigned char>(*end) & 0xC0U) == 0x80U) --end;  // within a character of UTF-8
  }
  while (end > p && is_blank(end[-1])) --end;
  return {p, static_cast<size_t>(end - p)};
}

const char* parse_id_slowly(const char* p, std::int64_t& value, std::string_view what) {
  if (*p == '\n' || *p == '\r') fail_text(p, fmt::format("{} is missing", what), "the line ends here");
  const auto [end, error] = std::from_chars(p, number_end(p), value);
  const bool whole = is_digit(*p) && error == std::errc{} && ends_number(*end);
  constexpr std::int64_t largest_id = std::numeric_limits<std::int64_t>::max() - 1;  // one more must be a size
  if (whole && value <= largest_id) return end;
  const bool large = whole || (is_digit(*p) && error == std::errc::result_out_of_range);
  const bool edges = what == "a vertex id";
  if (edges && !large && *p != '-' && looks_numeric(field_at(p))) {
    fail_text(p, fmt::format("'{}' is not {}", field_at(p), what),
              "the input is a sparse matrix, as it is declared: a line has two ids, integers from 0 on, then values",
              "declare a table of numbers dense, input X : dense f64[N, M], or its columns local: dim M local");
  }
  const std::string is_none = fmt::format("is not {}", what);
  throw TextFault{
      p, fmt::format("'{}' {}", field_at(p), is_none),
      large ? fmt::format("the largest possible is {}", largest_id) : "an integer from 0 on is expected",
      !edges      ? ""
      : large     ? "give the vertices other numbers"
      : *p == '-' ? "add a constant to all ids, so that they are 0 or more"
                  : "an edge list has two numbers a line, then values: number the vertices, put # before other lines",
      is_none};
}

ParseInto whole_parser_of(Scalar scalar) {
  if (scalar == Scalar::f64) return parse_whole_float<double>;
  if (scalar == Scalar::f32) return parse_whole_float<float>;
  return parser_of(scalar);
}

ParseInto parser_of(Scalar scalar) { return parsers[static_cast<size_t>(scalar)]; }

bool looks_numeric(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const char* const end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, value);
  return result.ec != std::errc::invalid_argument && result.ptr == end;
}

bool store_number(Scalar scalar, double value, std::byte* plane, std::int64_t i) {
  constexpr double two63 = 9223372036854775808.0;
  switch (scalar) {
    case Scalar::f64:
      reinterpret_cast<double*>(plane)[i] = value;
      return true;
    case Scalar::f32:
      reinterpret_cast<float*>(plane)[i] = static_cast<float>(value);
      return std::isfinite(static_cast<float>(value)) || !std::isfinite(value);
    default:
      break;
  }
  if (std::trunc(value) != value || value < -two63 || value >= two63) return false;
  return store_number(scalar, static_cast<std::int64_t>(value), plane, i);
}

bool store_number(Scalar scalar, std::int64_t value, std::byte* plane, std::int64_t i) {
  switch (scalar) {
    case Scalar::f64:
      reinterpret_cast<double*>(plane)[i] = static_cast<double>(value);
      return true;
    case Scalar::f32:
      reinterpret_cast<float*>(plane)[i] = static_cast<float>(value);
      return true;
    case Scalar::id:
    case Scalar::i64:
      reinterpret_cast<std::int64_t*>(plane)[i] = value;
      return true;
    case Scalar::i32:
      reinterpret_cast<std::int32_t*>(plane)[i] = static_cast<std::int32_t>(value);
      return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
    case Scalar::boolean:
      plane[i] = static_cast<std::byte>(value != 0);
      return value == 0 || value == 1;
    case Scalar::null:
      return false;
  }
  return false;
}

}  // namespace kasen
