#include "libcore/scalar/elementary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace kasen {
namespace {

constexpr std::array functions{
#define ELEMENTARY(name, work, library, numeric, wide, shape, doc) \
  ElementaryRow{ScalarOp::name, library, [](double a) { return numeric; }, shape},
#include "libcore/scalar/elementary.def"
#undef ELEMENTARY
};

}  // namespace

const ElementaryRow* elementary_row(ScalarOp op) {
  const auto* row =
      std::find_if(functions.begin(), functions.end(), [&](const ElementaryRow& r) { return r.op == op; });
  return row == functions.end() ? nullptr : row;
}

}  // namespace kasen
