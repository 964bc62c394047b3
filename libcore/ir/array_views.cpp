#include "libcore/ir/array_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"

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
  if (!takes_one_index(view)) return places;
  const auto dropped = places.begin() + ranged_place(module, view);
  std::for_each(dropped, places.end(), [](size_t& place) { --place; });
  *dropped = no_place;
  return places;
}

std::ptrdiff_t ranged_place(const Module& module, const Op& view) {
  if (!is_slice(view)) return -1;
  const std::vector<DimId>& dims = module.type(viewed(view)).dims;
  return std::find(dims.begin(), dims.end(), view.over.at(0)) - dims.begin();
}

RangeSizes range_sizes(const Module& module, const Op& slice) {
  const Dimension& whole = module.dim(slice.over.at(0));
  const bool single = slice.dim == no_dim;
  return {whole.name, whole.size, single ? 1 : module.dim(slice.dim).size, single};
}

std::string range_fault(const RangeSizes& s, std::int64_t begin) {
  const bool known = s.whole >= 0 && s.size >= 0;
  if (begin >= 0 && (!known || (s.size <= s.whole && begin <= s.whole - s.size))) return {};
  const std::string of = known ? fmt::format("which has {}", s.whole) : "whose indices count from 0";
  if (s.single) return fmt::format("it is index {} of '{}', {}", begin, s.dim, of);
  if (!known) return fmt::format("it begins at {} of '{}', {}", begin, s.dim, of);
  return fmt::format("it is the {} indices from {} on of '{}', {}", s.size, begin, s.dim, of);
}

std::string outside_text(const RangeSizes& sizes) {
  return fmt::format("{} does not lie inside of its array", sizes.single ? "an index" : "a range");
}

std::string outside_remedy(const RangeSizes& sizes) {
  if (!sizes.single) return "begin at another index, or give the dimensions other sizes";
  return fmt::format("take an index from 0 to size({}) - 1, or give the dimension another size", sizes.dim);
}

void require_inside(const RangeSizes& sizes, std::int64_t begin, const Location& where) {
  const std::string fault = range_fault(sizes, begin);
  if (!fault.empty()) fail(ExitStatus::bad_input, outside_text(sizes), fault, outside_remedy(sizes), where);
}

}  // namespace kasen
