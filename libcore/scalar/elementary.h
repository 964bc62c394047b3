// Elementary functions of one floating-point number, one row each in elementary.def: the facts that every analysis uses
// (ranges, laws, exact and solver forms, the library's name).
#pragma once

#include <cstdint>
#include <limits>

#include "libcore/scalar/scalar.h"

namespace kasen {

enum class Parity : std::uint8_t { none, odd, even };

// Describes the function of the reals. The machine's values are these, rounded: they may reach bounds that are open.
struct FunctionShape {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double from = -infinity, to = infinity;      // its domain
  bool from_open = false, to_open = false;     // it has no value at the end itself, but grows beyond all bounds there
  double least = -infinity, most = infinity;   // its values
  bool least_open = false, most_open = false;  // bounds that it only approaches
  int growth = 0;                              // 1: it never falls; -1: never rises; 0: neither
  Parity parity = Parity::none;
  double at_minus = std::numeric_limits<double>::quiet_NaN();  // its limits at the infinities
  double at_plus = std::numeric_limits<double>::quiet_NaN();
  double at_zero = std::numeric_limits<double>::quiet_NaN();
  double root = std::numeric_limits<double>::quiet_NaN();  // of a rising function: where it is 0

  // Builders for the rows.
  [[nodiscard]] constexpr FunctionShape rising(double minus, double plus) const {
    FunctionShape s = *this;
    s.growth = 1;
    s.at_minus = minus;
    s.at_plus = plus;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape falling() const {
    FunctionShape s = *this;
    s.growth = -1;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape odd() const {
    FunctionShape s = *this;
    s.parity = Parity::odd;
    s.at_zero = 0;
    if (growth > 0) s.root = 0;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape even(double zero) const {
    FunctionShape s = *this;
    s.parity = Parity::even;
    s.at_zero = zero;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape zero(double value) const {
    FunctionShape s = *this;
    s.at_zero = value;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape zero_at(double place) const {
    FunctionShape s = *this;
    s.root = place;
    if (place == 0) s.at_zero = 0;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape both_ends(double value) const {
    FunctionShape s = *this;
    s.at_minus = s.at_plus = value;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape on(double low, double high, bool open) const {
    FunctionShape s = *this;
    s.from = low;
    s.to = high;
    s.from_open = open;
    s.to_open = open && high != infinity;
    return s;
  }
  [[nodiscard]] constexpr FunctionShape within(double low, double high, bool open) const {
    FunctionShape s = *this;
    s.least = low;
    s.most = high;
    s.least_open = open && low != -infinity;
    s.most_open = open && high != infinity;
    return s;
  }

  [[nodiscard]] constexpr bool everywhere() const { return from == -infinity && to == infinity; }
  // True if it is monotone everywhere, the infinities included.
  [[nodiscard]] constexpr bool never_falls() const { return growth > 0 && everywhere(); }
};

struct ElementaryRow {
  ScalarOp op;
  const char* library;  // its name in the C library, of f64; "" where processors have an instruction
  double (*value)(double);
  FunctionShape shape;
};

// Null if it is no elementary function.
[[nodiscard]] const ElementaryRow* elementary_row(ScalarOp op);

}  // namespace kasen
