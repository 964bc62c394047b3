// Parses numbers in text by hand: a '\n' that ends the line always follows `p`, and `text_padding` bytes behind it can
// be read (text_pieces.h). An error throws a TextFault that points to the number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libcomm/data/text/text_source.h"
#include "libcore/base/types.h"

namespace kasen {

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
[[nodiscard]] inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
[[nodiscard]] inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}
[[nodiscard]] inline bool ends_field(char c) { return is_blank(c) || c == '\n' || c == ',' || c == ';'; }
// The text up to the next blank, comma, semicolon or line end, cut for messages.
[[nodiscard]] std::string_view field_at(const char* p);

// The cell from p on, up to its delimiter or the line end, without blanks behind it, cut for messages. With blanks as
// the delimiter (' '), any of them ends it.
[[nodiscard]] std::string_view cell_at(const char* p, char delimiter);

// The rare end of parse_id: 19 digits or more, else an error with its reason.
[[nodiscard]] const char* parse_id_slowly(const char* p, std::int64_t& value, std::string_view what);

// A non-negative integer below 2^63 - 1 that a blank, comma, semicolon, colon or line end follows.
[[nodiscard]] inline const char* parse_id(const char* p, std::int64_t& value, std::string_view what) {
  const char* const start = p;
  std::uint64_t number = 0;
  for (; is_digit(*p); ++p) number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  if (p == start || p - start > 18 || !(ends_field(*p) || *p == ':')) return parse_id_slowly(start, value, what);
  value = static_cast<std::int64_t>(number);
  return p;
}

// Parses one number of a plane's scalar type and stores it at index `i` of the plane. Returns the byte after it.
// Integers may be written as 3.0 or 3e2; text that is no number of that type is an error.
using ParseInto = const char* (*)(const char* p, std::byte* plane, std::int64_t i);
[[nodiscard]] ParseInto parser_of(Scalar scalar);

// The same for integers only, also if the type has other numbers.
[[nodiscard]] ParseInto whole_parser_of(Scalar scalar);

// True if the field from p on, up to a blank or one of `,;:` or the line end, is a number.
[[nodiscard]] bool looks_numeric(std::string_view field);

// Stores `value` at index `i` of a plane of `scalar`; false if it does not fit. Floats may be rounded, integers not.
[[nodiscard]] bool store_number(Scalar scalar, double value, std::byte* plane, std::int64_t i);
[[nodiscard]] bool store_number(Scalar scalar, std::int64_t value, std::byte* plane, std::int64_t i);

}  // namespace kasen
