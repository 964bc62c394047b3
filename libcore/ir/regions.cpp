#include "libcore/ir/regions.h"

#include <algorithm>
#include <array>

#include "libcore/ir/array_views.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

constexpr std::array kinds{
#define REGION(kind, entry, in_place, pass, holds) \
  RegionRow{RegionKind::kind, #kind, RegionEntry::entry, in_place, pass, holds},
#include "libcore/ir/regions.def"
#undef REGION
};

constexpr bool in_order() {
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (static_cast<size_t>(kinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order(), "RegionKind and regions.def list the kinds in one order");

bool is_read_before_results(const std::vector<Op>& ops, ValueId v) {
  const auto gives = [&](const Op& op) { return contains(ops.back().operands, op.results.at(0)); };
  const auto first = std::find_if(ops.begin(), ops.end() - 1, gives);
  const bool as_map = !contains(first->operands, v) || first->code == OpCode::map;
  return as_map && std::none_of(first + 1, ops.end(), [&](const Op& op) { return contains(op.operands, v); });
}

}  // namespace

std::span<const RegionRow> region_rows() { return kinds; }
const RegionRow& row(RegionKind kind) { return kinds[static_cast<size_t>(kind)]; }
std::string_view region_name(RegionKind kind) { return row(kind).name; }

const RegionRow* find_region(std::string_view name) {
  const auto* it = std::find_if(kinds.begin(), kinds.end(), [&](const RegionRow& r) { return r.name == name; });
  return it == kinds.end() ? nullptr : it;
}

bool may_write_over(const Op& op, ValueId v) {
  if (op.code == OpCode::contract) {
    return is_onto(op) && op.operands[2] == v && op.operands[0] != v && op.operands[1] != v;
  }
  if (!row(op.kind).in_place) return false;
  const std::vector<Op>& ops = op.blocks.at(0).ops;
  if (is_rows(op)) return is_read_before_results(ops, v);
  return std::none_of(ops.begin(), ops.end(), [&](const Op& inner) {
    if (is_view(inner)) return !is_row_chain(op) && viewed(inner) == v;
    return is_product(inner) && contains(inner.operands, v);
  });
}

RowChain row_chain(const Op& region) {
  RowChain chain;
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  for (const Op& op : std::span(ops).first(ops.size() - 1)) {
    (op.code == OpCode::mxvt ? chain.inner : op.code == OpCode::mxv ? chain.outer : chain.work).push_back(&op);
  }
  return chain;
}

}  // namespace kasen
