// Division of integers of any size that rounds down; b is not zero, and the quotient fits.
#pragma once

namespace kasen {

template <class Integer>
[[nodiscard]] Integer floor_quotient(const Integer& a, const Integer& b) {
  Integer quotient = a / b;
  if (a % b != 0 && (a < 0) != (b < 0)) --quotient;
  return quotient;
}

}  // namespace kasen
