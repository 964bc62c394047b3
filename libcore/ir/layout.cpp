#include "libcore/ir/layout.h"

namespace kasen {

std::vector<DimId> Layout::whole_dims() const {
  std::vector<DimId> dims;
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
    if (!is_cut(axis)) dims.push_back(dims_[axis]);
  }
  return dims;
}

AroundCut Layout::around() const {
  const auto size_of = [&](DimId dim) { return std::max<std::int64_t>(module_->dim(dim).size, 0); };
  return around_cut(dims_, cut_axis_, size_of, "an array's local size");
}

}  // namespace kasen
