#include "libcore/regions.h"

#include <algorithm>
#include <array>

namespace kasen {
namespace {

constexpr std::array rows{
#define REGION(kind, entry, in_place, pass, holds) \
  RegionRow{RegionKind::kind, #kind, RegionEntry::entry, in_place, pass, holds},
#include "libcore/regions.def"
#undef REGION
};

constexpr bool in_order() {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<size_t>(rows[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order(), "RegionKind and regions.def list the kinds in one order");

}  // namespace

std::span<const RegionRow> region_rows() { return rows; }
const RegionRow& row(RegionKind kind) { return rows[static_cast<size_t>(kind)]; }
std::string_view region_name(RegionKind kind) { return row(kind).name; }

const RegionRow* find_region(std::string_view name) {
  const auto* it = std::find_if(rows.begin(), rows.end(), [&](const RegionRow& r) { return r.name == name; });
  return it == rows.end() ? nullptr : it;
}

}  // namespace kasen
