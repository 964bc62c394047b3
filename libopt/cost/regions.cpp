// Costs of a region, by its kind.
#include <array>

#include "libopt/cost/box_cost.h"
#include "libopt/cost/rules.h"

namespace kasen {

// Modules with blocks name layouts.
Cost model_blocks(const CostContext& c, const Op& region) { return c.boxes->model(region); }
Cost actual_blocks(const CostContext& c, const Op& region) { return c.boxes->actual(region); }

namespace {

struct RegionCosts {
  Cost (*model)(const CostContext&, const Op&);
  Cost (*actual)(const CostContext&, const Op&);
};

// In the order of RegionKind.
constexpr std::array region_costs{
#define REGION(kind, entry, in_place, pass, holds) RegionCosts{model_##kind, actual_##kind},
#include "libcore/ir/regions.def"
#undef REGION
};

}  // namespace

Cost model_region(const CostContext& c, const Op& region) {
  return region_costs.at(static_cast<size_t>(region.kind)).model(c, region);
}

Cost actual_region(const CostContext& c, const Op& region) {
  return region_costs.at(static_cast<size_t>(region.kind)).actual(c, region);
}

}  // namespace kasen
