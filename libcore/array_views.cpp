#include "libcore/array_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/error.h"

namespace kasen {

bool reads_along(const Op& op, ValueId value) {
  if (op.code == OpCode::region) {
    const std::vector<Op>& ops = op.blocks.at(0).ops;
    return std::any_of(ops.begin(), ops.end(), [&](const Op& inner) { return reads_along(inner, value); });
  }
  return std::find(op.operands.begin() + (is_view(op) ? 1 : 0), op.operands.end(), value) != op.operands.end();
}

std::vector<size_t> view_places(const Module& module, const Op& view) {
  const size_t rank = module.type(viewed(view)).dims.size();
  std::vector<size_t> places;
  for (size_t i = 0; i < rank; ++i) places.push_back(view.code == OpCode::transpose ? rank - 1 - i : i);
  return places;
}

std::ptrdiff_t ranged_place(const Module& module, const Op& view) {
  if (view.code != OpCode::range) return -1;
  const std::vector<DimId>& dims = module.type(viewed(view)).dims;
  return std::find(dims.begin(), dims.end(), view.over.at(0)) - dims.begin();
}

RangeSizes range_sizes(const Module& module, const Op& range) {
  const Dimension& whole = module.dim(range.over.at(0));
  return {whole.name, whole.size, module.dim(range.dim).size};
}

std::string range_fault(const RangeSizes& s, std::int64_t begin) {
  const bool known = s.whole >= 0 && s.size >= 0;
  if (begin >= 0 && (!known || (s.size <= s.whole && begin <= s.whole - s.size))) return {};
  if (!known) return fmt::format("it begins at {} of '{}', whose indices count from 0", begin, s.dim);
  return fmt::format("it is the {} indices from {} on of '{}', which has {}", s.size, begin, s.dim, s.whole);
}

void require_inside(const RangeSizes& sizes, std::int64_t begin, const Location& where) {
  const std::string fault = range_fault(sizes, begin);
  if (fault.empty()) return;
  fail(ExitStatus::bad_input, "a range does not lie inside of its array", fault,
       "begin at another index, or give the dimensions other sizes", where);
}

}  // namespace kasen
