// Numbers in text beside the C library's: the same bits for text of every form, and the same text refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "libcomm/data/text/number_text.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {
namespace {

// The number that begins the text, if all of it is one.
template <class T>
std::optional<T> parsed(const std::string& text, Scalar scalar) {
  const std::string padded = text + '\n' + std::string(static_cast<std::size_t>(text_padding), '7');
  T value{};
  try {
    const char* const end = parser_of(scalar)(padded.data(), reinterpret_cast<std::byte*>(&value), 0);
    if (end != padded.data() + text.size()) return std::nullopt;
  } catch (const TextFault&) {
    return std::nullopt;
  }
  return value;
}

template <class T>
auto bits_of(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
}

// Beside strtod and strtof, which round once, too. A number that is too large is refused.
void expect_as_in_c(const std::string& text) {
  const double wide = std::strtod(text.c_str(), nullptr);
  const float narrow = std::strtof(text.c_str(), nullptr);
  const auto number = parsed<double>(text, Scalar::f64);
  const auto small = parsed<float>(text, Scalar::f32);
  ASSERT_EQ(number.has_value(), std::isfinite(wide)) << text;
  ASSERT_EQ(small.has_value(), std::isfinite(narrow)) << text;
  if (number) {
    ASSERT_EQ(bits_of(*number), bits_of(wide)) << text;
  }
  if (small) {
    ASSERT_EQ(bits_of(*small), bits_of(narrow)) << text;
  }
}

double any_finite(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

TEST(Numbers, OfEveryLengthAndSize) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 60000; ++i) {
    const double value = any_finite(random);
    const double usual = std::normal_distribution<double>(0, std::exp2(static_cast<int>(random() % 60) - 30))(random);
    const int places = static_cast<int>(random() % 22);
    for (const double v : {value, usual, static_cast<double>(static_cast<float>(usual))}) {
      expect_as_in_c(fmt::format("{}", v));
      expect_as_in_c(fmt::format("{:.{}e}", v, places));
    }
    expect_as_in_c(fmt::format("{:.{}f}", usual, places));
  }
}

TEST(Numbers, OfAnyDigits) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 200000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : random() % 2 == 0 ? "+" : "";
    const std::size_t whole = random() % 24;
    for (std::size_t k = 0; k < whole; ++k) text += static_cast<char>('0' + random() % (random() % 3 == 0 ? 1 : 10));
    const std::size_t behind = whole == 0 ? 1 + random() % 24 : random() % 24;
    if (behind > 0 || random() % 4 == 0) text += '.';
    const bool zeros = random() % 2 == 0;
    for (std::size_t k = 0; k < behind; ++k)
      text += zeros && k + 3 < behind ? '0' : static_cast<char>('0' + random() % 10);
    if (random() % 2 == 0)
      text += fmt::format("{}{}{:0{}}", random() % 2 == 0 ? 'e' : 'E',
                          random() % 3 == 0   ? "-"
                          : random() % 2 == 0 ? "+"
                                              : "",
                          random() % 360, 1 + random() % 5);
    expect_as_in_c(text);
  }
}

// Texts half way between two numbers, or a unit of the last digit beside that: 2^53 + an odd number, times 2^k, has no
// more than 19 digits for small k.
TEST(Numbers, HalfWayAndNearIt) {
  std::mt19937_64 random(13);
  for (const int digits : {53, 24}) {
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t odd = (std::uint64_t{1} << digits) + (random() % (std::uint64_t{1} << digits) | 1U);
      const std::uint64_t middle = digits == 24 ? odd << (random() % 30) : odd << (random() % 4);
      for (const std::uint64_t near : {middle - 1, middle, middle + 1}) {
        expect_as_in_c(fmt::format("{}", near));
        expect_as_in_c(fmt::format("{}.0", near));
        expect_as_in_c(fmt::format("{}e-{}", near, random() % 330));
        expect_as_in_c(fmt::format("{}e{}", near, random() % 300));
      }
      // The same divided by a power of two that has a short decimal fraction.
      const auto halved = static_cast<std::uint64_t>(1 + random() % 3);
      const std::uint64_t unit = std::uint64_t{1} << halved, places = halved == 1 ? 10 : halved == 2 ? 100 : 1000;
      const std::uint64_t part = odd % unit * (places / unit);
      expect_as_in_c(fmt::format("{}.{:0{}}", odd / unit, part, halved));
      expect_as_in_c(fmt::format("{}.{:0{}}1", odd / unit, part, halved));
    }
  }
}

// Decimals of 16 to 19 digits whose products with powers of ten lie close to half way between two numbers, found as
// the neighbours of exact middles with many more digits.
TEST(Numbers, MiddlesWithTheirDigitsCutOff) {
  std::mt19937_64 random(14);
  for (int i = 0; i < 40000; ++i) {
    const double value = std::abs(any_finite(random));
    const double next = std::nextafter(value, INFINITY);
    if (!std::isfinite(next)) continue;
    const std::string middle = fmt::format("{:.30Le}", (static_cast<long double>(value) + next) / 2);
    const std::size_t power = middle.find('e');
    for (const std::size_t length : {17, 18, 19, 20, 25}) {
      std::string text = middle.substr(0, std::min(length + 1, power));
      expect_as_in_c(text + middle.substr(power));
      text.back() = static_cast<char>(text.back() == '9' ? '8' : text.back() + 1);
      expect_as_in_c(text + middle.substr(power));
    }
  }
}

TEST(Numbers, AtTheEndsOfTheirRange) {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0",
                           "0e400",
                           "-0e-400",
                           "0e99999999",
                           "000",
                           "00000000000000000000",
                           "0.0000000000000000000",
                           "1e-400",
                           "-1e-400",
                           "4.9e-324",
                           "5e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "1.1754943508222875e-38",
                           "1.1754943e-38",
                           "3.4028235677973366e38",
                           "3.4028235e38",
                           "1e308",
                           "1e309",
                           "9999999999999999999e289",
                           "9999999999999999999e290",
                           "18446744073709551615",
                           "18446744073709551616",
                           "184467440737095516160",
                           "18446744073709551616.5",
                           "340282366920938463463374607431768211456",
                           "0.000000000000000000000000000000000000000000000001234567890123456789",
                           "1e22",
                           "1e23",
                           "9007199254740993",
                           "9007199254740993e-22",
                           "1e0000001",
                           "1e-0000001",
                           "12345678e1234567",
                           "1e123456789",
                           "1e-123456789"})
    expect_as_in_c(text);
}

TEST(Numbers, OtherTextIsRefused) {
  for (const char* text : {"",      "-",     "+",   ".",   "-.",   "e5",   "1e",   "1e+",       "1e+-5",
                           "1.5.2", "1..5",  "--1", "+-1", "1-",   "1 2x", "0x10", "12345678x", "1234567890123456x",
                           "1,5",   "1e5e5", "1.e", "abc", "1_000"}) {
    EXPECT_FALSE(parsed<double>(text, Scalar::f64)) << text;
    EXPECT_FALSE(parsed<float>(text, Scalar::f32)) << text;
    EXPECT_FALSE(parsed<std::int64_t>(text, Scalar::i64)) << text;
  }
  for (const char* text : {"inf", "-inf", "nan", "INF", "infinity"})
    EXPECT_TRUE(parsed<double>(text, Scalar::f64)) << text;
}

TEST(Numbers, IntegersOfEveryLength) {
  std::mt19937_64 random(15);
  for (int i = 0; i < 100000; ++i) {
    const auto value = static_cast<std::int64_t>(random()) >> (random() % 64);
    const std::string text = fmt::format("{}{}", value >= 0 && random() % 4 == 0 ? "+" : "", value);
    ASSERT_EQ(parsed<std::int64_t>(text, Scalar::i64), value) << text;
    const auto small = parsed<std::int32_t>(text, Scalar::i32);
    ASSERT_EQ(small.has_value(), value == static_cast<std::int32_t>(value)) << text;
    if (small) {
      ASSERT_EQ(*small, value) << text;
    }
    ASSERT_EQ(parsed<std::int64_t>(text + "e0", Scalar::i64), value) << text;
  }
  for (const char* text : {"9223372036854775807", "-9223372036854775808", "000000000000000000000012"})
    EXPECT_TRUE(parsed<std::int64_t>(text, Scalar::i64)) << text;
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "18446744073709551617", "1.5"})
    EXPECT_FALSE(parsed<std::int64_t>(text, Scalar::i64)) << text;
}

}  // namespace
}  // namespace kasen
