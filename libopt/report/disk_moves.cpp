#include "libopt/report/disk_moves.h"

#include <optional>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/data/disk_elements.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/tiers.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/extent.h"

namespace kasen {
namespace {

constexpr const char* bytes_of_disk = "bytes of a disk";

std::int64_t stored_bytes(const Module& module, const Sizes& sizes, const Op& op, int worker) {
  const Type& type = module.type(op.operands.at(0));
  const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
  const std::int64_t inner = inner_elements(module, type).value(here);
  const std::int64_t indices = Layout(module, type).is_shared() ? 1 : stored_indices(module, type).value(here);
  return SpilledElements::bytes_of_groups(type.element, 0, checked_mul(indices, inner, bytes_of_disk));
}

std::int64_t box_elements(const Module& sized, const Op& op, int worker) {
  return elements_of(sized, stored_box(sized, sized.type(op.operands.at(0))), worker).count();
}

}  // namespace

std::vector<DiskUse> predict_disk(const Module& module, const Sizes& sizes) {
  std::vector<DiskUse> uses;
  const bool boxes = uses_disk(module) && names_layouts(module);
  const std::optional<Module> sized = boxes ? std::optional(sized_module(module, sizes)) : std::nullopt;
  for_each_op(module, [&](const Op& op, int, int) {
    DiskUse& use = uses.emplace_back();
    if (!moves_tier(op)) return;
    std::int64_t bytes = 0;
    for (int worker = 0; worker < sizes.workers; ++worker) {
      const ElementType& element = module.type(op.operands.at(0)).element;
      const std::int64_t some = boxes ? SpilledElements::bytes_of_groups(element, 0, box_elements(*sized, op, worker))
                                      : stored_bytes(module, sizes, op, worker);
      bytes = checked_add(bytes, some, bytes_of_disk);
    }
    (op.code == OpCode::load ? use.read : use.written) = bytes;
    use.first_read = use.read;
  });
  return uses;
}

}  // namespace kasen
