#include "libcore/ir/axis_ops.h"

#include <algorithm>

#include "libcore/ir/layout.h"

namespace kasen {

std::size_t worked_place(const Module& module, const Op& op) {
  const std::vector<DimId>& dims = module.type(op.operands.at(0)).dims;
  return static_cast<std::size_t>(std::find(dims.begin(), dims.end(), worked_dim(op)) - dims.begin());
}

std::vector<DimId> taken_dims(const std::vector<DimId>& array, DimId along, const std::vector<DimId>& places) {
  std::vector<DimId> rest = array, dims;
  rest.erase(std::remove(rest.begin(), rest.end(), along), rest.end());
  for (const DimId d : array) {
    if (d != along) {
      dims.push_back(d);
      continue;
    }
    std::copy_if(places.begin(), places.end(), std::back_inserter(dims), [&](DimId p) { return !contains(rest, p); });
  }
  return dims;
}

std::vector<std::ptrdiff_t> axis_op_places(const Module& module, const Op& op, std::size_t operand) {
  const std::vector<DimId>&dims = module.type(op.operands.at(operand)).dims, &made = module.type(op.results.at(0)).dims;
  std::vector<std::ptrdiff_t> places;
  for (const DimId d : dims) {
    const bool whole = operand == 0 && d == worked_dim(op);
    places.push_back(whole ? no_axis : std::find(made.begin(), made.end(), d) - made.begin());
  }
  return places;
}

bool crosses_workers(const Module& module, const Op& op) {
  if (!module.dim(worked_dim(op)).local) return true;
  const DimId cut = Layout(module, op.results.at(0)).cut();
  std::vector<ValueId> values = op.operands;
  values.push_back(op.results[0]);
  return std::any_of(values.begin(), values.end(), [&](ValueId v) {
    const std::vector<DimId>& dims = module.type(v).dims;
    const auto several = std::count_if(dims.begin(), dims.end(), [&](DimId d) { return !module.dim(d).local; }) > 1;
    const Layout layout(module, v);
    return several || (layout.is_distributed() && layout.cut() != cut);
  });
}

}  // namespace kasen
