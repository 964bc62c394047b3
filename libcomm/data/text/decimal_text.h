// Decimal text to numbers, eight digits at a time, rounded once; private to number_text. Eight bytes from any byte of
// the text on can be read (text_padding).
//
// The nearest floating-point number of `digits * 10^power` comes out of a product with a power of ten of 128 bits. The
// power is cut off and not exact, so the product is too small by less than two units of its last place. That matters
// where the product lies just below half way between two numbers, or on it. Such text is left to another parser.
// (The idea is Eisel's and Lemire's: Lemire, "Number parsing at a gigabyte per second", 2021.)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "libcomm/data/text/number_text.h"

namespace kasen {

// Eight bytes of text; a digit is its value.
struct EightBytes {
  std::uint64_t word;

  explicit EightBytes(const char* p) {
    static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
    std::memcpy(&word, p, sizeof word);
    word ^= 0x3030303030303030;
  }
  [[nodiscard]] bool are_digits() const {
    return (((word + 0x7676767676767676) | word) & 0x8080808080808080) == 0;  // the highest bit of one that is none
  }
  // The value of eight digits: numbers of two digits, then of four, then of eight.
  [[nodiscard]] std::uint64_t value() const {
    const std::uint64_t two = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
    const std::uint64_t four = (two * 100 + (two >> 16)) & 0x0000FFFF0000FFFF;
    return (four * 10000 + (four >> 32)) & 0xFFFFFFFF;
  }
};

// Reads all digits from p on. The value is right for at most `most_digits`. Numbers of one column are of like length,
// so the branches of loops are predicted, and the next byte's place is known before the value is.
inline constexpr std::ptrdiff_t most_digits = 19;
inline const char* read_few_digits(const char* p, std::uint64_t& value) {
  for (; is_digit(*p); ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}
inline const char* read_digits(const char* p, std::uint64_t& value) {
  constexpr std::uint64_t eight_digits = 100'000'000;
  for (; EightBytes(p).are_digits(); p += 8) value = value * eight_digits + EightBytes(p).value();
  return read_few_digits(p, value);
}

// digits * 10^power, without its sign.
struct DecimalNumber {
  std::uint64_t digits = 0;
  std::int64_t power = 0;
  bool negative = false;
  const char* end = nullptr;  // null: the text is none, or has more digits than `most_digits`
};

// Adds the exponent at p; false if none stands there, or a long one.
[[nodiscard]] inline bool read_exponent(const char*& p, std::int64_t& power) {
  const bool minus = *++p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const first = p;
  std::uint64_t digits = 0;
  p = read_few_digits(p, digits);
  if (p == first || p - first > 7) return false;
  power += minus ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
  return true;
}

[[nodiscard]] inline __attribute__((always_inline)) DecimalNumber read_decimal(const char* p) {
  DecimalNumber number;
  number.negative = *p == '-';
  if (number.negative) ++p;
  const char* const start = p;
  p = read_few_digits(p, number.digits);
  std::ptrdiff_t all = p - start;
  std::ptrdiff_t counted = number.digits == 0 && all <= most_digits ? 0 : all;
  if (*p == '.') {
    const char* const point = p++;
    if (counted == 0)
      while (*p == '0') ++p;  // not counted, since the value is right with any number of them
    const char* const first = p;
    p = read_digits(p, number.digits);
    counted += p - first;
    all += p - point - 1;
    number.power = -(p - point - 1);
  }
  if (all == 0 || counted > most_digits) return number;
  if ((*p == 'e' || *p == 'E') && !read_exponent(p, number.power)) return number;
  number.end = p;
  return number;
}

// 10^q = mantissa * 2^exponent, the mantissa of 128 bits cut off.
struct WidePower {
  std::uint64_t high = 0, low = 0;
  int exponent = 0;
};

inline constexpr int least_power = -342, greatest_power = 308;  // of the table; beyond them all is 0 or too large

// Powers of five in as many words as they need, exact, or cut off once: floor(floor(2^k / 5) / 5) = floor(2^k / 25).
class PowersOfFive {
 public:
  static constexpr int reciprocal_bits = 1056;

  constexpr void times_five() {
    std::uint64_t carry = 0;
    for (std::uint32_t& word : words_) {
      carry += std::uint64_t{word} * 5;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  constexpr void divide_by_five() {
    std::uint64_t rest = 0;
    for (std::size_t k = words_.size(); k-- > 0;) {
      rest = rest << 32 | words_[k];
      words_[k] = static_cast<std::uint32_t>(rest / 5);
      rest %= 5;
    }
  }
  constexpr void set_bit(int bit) { words_[static_cast<std::size_t>(bit / 32)] |= std::uint32_t{1} << (bit % 32); }
  // The highest 128 bits; the exponent is that of their last bit.
  [[nodiscard]] constexpr WidePower top() const {
    std::size_t k = words_.size() - 1;
    while (words_[k] == 0) --k;
    const int length = static_cast<int>(k) * 32 + static_cast<int>(std::bit_width(words_[k]));
    WidePower top{.high = 0, .low = 0, .exponent = length - 128};
    for (int bit = 0; bit < 64; ++bit) {
      top.high = top.high << 1 | at(length - 1 - bit);
      top.low = top.low << 1 | at(length - 65 - bit);
    }
    return top;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t at(int bit) const {
    return bit < 0 ? 0 : words_[static_cast<std::size_t>(bit / 32)] >> (bit % 32) & 1U;
  }
  std::array<std::uint32_t, 34> words_{};
};

[[nodiscard]] inline std::array<WidePower, greatest_power - least_power + 1> make_wide_powers() {
  std::array<WidePower, greatest_power - least_power + 1> powers{};
  PowersOfFive rising, falling;
  rising.set_bit(0);
  falling.set_bit(PowersOfFive::reciprocal_bits);
  for (int q = 0; q <= greatest_power; ++q, rising.times_five()) {
    WidePower& power = powers[static_cast<std::size_t>(q - least_power)];
    power = rising.top();
    power.exponent += q;
  }
  for (int q = -1; q >= least_power; --q) {
    falling.divide_by_five();
    WidePower& power = powers[static_cast<std::size_t>(q - least_power)];
    power = falling.top();
    power.exponent += q - PowersOfFive::reciprocal_bits;
  }
  return powers;
}

[[nodiscard]] inline const WidePower& wide_power(std::int64_t q) {
  static const auto powers = make_wide_powers();
  return powers[static_cast<std::size_t>(q - least_power)];
}

// The number nearest to digits * 10^power; false if it is too large, subnormal, or too near to half way.
template <class T>
[[nodiscard]] bool nearest_number(std::uint64_t digits, std::int64_t power, T& value) {
  __extension__ using Wide = unsigned __int128;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Limits = std::numeric_limits<T>;
  constexpr int least_exponent = Limits::min_exponent - Limits::digits;  // of a mantissa that is an integer
  constexpr int greatest_exponent = Limits::max_exponent - Limits::digits;
  if (power < least_power || power > greatest_power) return false;
  const WidePower& ten = wide_power(power);
  const int zeros = std::countl_zero(digits);
  const std::uint64_t left = digits << zeros;
  const Wide low = Wide{left} * ten.low, product = Wide{left} * ten.high + static_cast<std::uint64_t>(low >> 64);
  const auto high = static_cast<std::uint64_t>(product >> 64), rest = static_cast<std::uint64_t>(product);
  const int cut = 63 - Limits::digits + static_cast<int>(high >> 63);
  const std::uint64_t half = std::uint64_t{1} << (cut - 1), below = high & (2 * half - 1);
  constexpr std::uint64_t nearly_one = std::numeric_limits<std::uint64_t>::max() - 1;
  if ((below == half && rest == 0) || (below == half - 1 && rest >= nearly_one)) return false;
  std::uint64_t mantissa = (high >> cut) + (below >= half ? 1 : 0);
  int exponent = cut + 128 + ten.exponent - zeros;
  if (mantissa >> Limits::digits != 0) {
    mantissa >>= 1;
    ++exponent;
  }
  if (exponent < least_exponent || exponent > greatest_exponent) return false;
  const auto biased = static_cast<Bits>(exponent - least_exponent + 1);
  constexpr int stored = Limits::digits - 1;
  const Bits bits = (biased << stored) | (static_cast<Bits>(mantissa) & ((Bits{1} << stored) - 1));
  value = std::bit_cast<T>(bits);
  return true;
}

// Digits that are exact in T, and so is the power of ten: their product or quotient is rounded once (Clinger 1990).
template <class T>
[[nodiscard]] bool exact_number(std::uint64_t digits, std::int64_t power, T& value) {
  static constexpr auto powers = [] {
    std::array<T, std::is_same_v<T, double> ? 23 : 11> all{1};
    for (std::size_t k = 1; k < all.size(); ++k) all[k] = all[k - 1] * 10;
    return all;
  }();
  constexpr std::uint64_t exact = std::uint64_t{1} << std::numeric_limits<T>::digits;
  constexpr auto most = static_cast<std::int64_t>(powers.size()) - 1;
  if (digits == 0) {
    value = 0;
    return true;
  }
  if (digits > exact || power < -most || power > most) return false;
  const T number = static_cast<T>(digits);
  value =
      power < 0 ? number / powers[static_cast<std::size_t>(-power)] : number * powers[static_cast<std::size_t>(power)];
  return true;
}

// The whole of a number's text, read and rounded; null where another parser has to look at it.
template <class T>
[[nodiscard]] inline __attribute__((always_inline)) const char* parse_decimal(const char* p, T& value) {
  const DecimalNumber number = read_decimal(p);
  if (number.end == nullptr) return nullptr;
  if (!exact_number(number.digits, number.power, value) && !nearest_number(number.digits, number.power, value))
    return nullptr;
  if (number.negative) value = -value;
  return number.end;
}

}  // namespace kasen
