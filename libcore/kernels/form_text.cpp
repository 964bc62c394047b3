#include "libcore/kernels/form_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/form_store.h"
#include "libcore/kernels/numbering_order.h"

namespace kasen {
namespace {

// Raised whenever a change gives another order, or another pull form, for the same data and plan.
constexpr int order_version = 1, matrix_version = 1;

std::string space_text(const Module& module, const SpaceKey& space, WithinGroups within) {
  const std::string order = order_text(module, space.dim, within);
  return fmt::format("{} {{{}}}{}", module.dim(space.dim).name, slaves_text(space.set),
                     order.empty() ? "" : " in " + order);
}

}  // namespace

std::string order_text(const Module& module, DimId dim, WithinGroups within) {
  const std::vector<const Op*> regions = ordering_regions(module, dim);
  if (regions.empty()) return {};
  const Op& product = epilogue_product(*regions.front());
  const DimId read = Layout(module, product.operands.at(0)).cut();
  std::string text = fmt::format("order {} of {} by {} of {} from {} ({})", order_version, module.dim(dim).name,
                                 row(product.code).name, matrix_name(module, product.operands.at(1)),
                                 module.dim(read).name, static_cast<int>(within));
  for (const Op* region : regions)
    text += fmt::format(" {{{}}}", slaves_text(module.type(epilogue_product(*region).results.at(0)).state.slaves));
  return text;
}

std::string matrix_text(const Module& module, const std::string& input, bool transposed, const SpaceKey& operand,
                        const SpaceKey& result, WithinGroups within) {
  return fmt::format("matrix {} {}, {} from {} to {}", matrix_version, input, transposed ? "rows" : "columns",
                     space_text(module, operand, within), space_text(module, result, within));
}

Array array_at(const ElementType& element, std::int64_t count, const LoadedForm& form, std::size_t k) {
  Array made(element, count);
  std::memcpy(made.bytes.data(), form.arrays.at(k), static_cast<size_t>(made.bytes.size()));
  return made;
}

bool holds_booleans(const Array& array) {
  for (std::int64_t p = 0; array.count > 0 && p < array.element.planes(); ++p) {
    if (array.element.plane_scalar(p) != Scalar::boolean) continue;
    const auto* const bytes = array.as<std::uint8_t>(p);
    if (std::any_of(bytes, bytes + array.count, [](std::uint8_t b) { return b > 1; })) return false;
  }
  return true;
}

}  // namespace kasen
