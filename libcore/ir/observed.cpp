#include "libcore/ir/observed.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"

namespace kasen {

std::vector<DimId> observed_sources(const IdMap<DimId, Dimension>& dims, DimId dim) {
  std::vector<DimId> found, open{dim};
  while (!open.empty()) {
    const DimId next = open.back();
    open.pop_back();
    const std::vector<DimId>& sources = dims[next].derived.sources;
    if (dims[next].is_observed() && !contains(found, next)) found.push_back(next);
    open.insert(open.end(), sources.begin(), sources.end());
  }
  return found;
}

const Op* observation_of(const Module& module, DimId dim) {
  const auto found = std::find_if(module.body.ops.begin(), module.body.ops.end(),
                                  [&](const Op& op) { return op.code == OpCode::observe && op.dim == dim; });
  return found == module.body.ops.end() ? nullptr : &*found;
}

bool observes(const Module& module) {
  return std::any_of(module.body.ops.begin(), module.body.ops.end(),
                     [](const Op& op) { return op.code == OpCode::observe; });
}

void require_observed_size(const Dimension& dim, std::int64_t size, std::int64_t most, const Location& where) {
  if (size >= 0 && size <= most) return;
  fail(ExitStatus::bad_input, fmt::format("a size of {} for dimension '{}'", size, dim.name),
       fmt::format("it has from 0 to {} indices", most), "", where);
}

namespace {

std::vector<DimId> dims_of(const Module& module, const Op& op) {
  std::vector<DimId> dims = op.over;
  if (op.dim != no_dim) dims.push_back(op.dim);
  const auto add = [&](ValueId v) { dims.insert(dims.end(), module.type(v).dims.begin(), module.type(v).dims.end()); };
  for (const ValueId v : op.results) add(v);
  for (const Block& block : op.blocks) std::for_each(block.args.begin(), block.args.end(), add);
  return dims;
}

}  // namespace

std::optional<EarlyUse> early_use(const Module& module) {
  const bool any =
      std::any_of(module.dims.begin(), module.dims.end(), [](const Dimension& dim) { return dim.is_observed(); });
  if (!any) return std::nullopt;
  std::vector<DimId> known;
  std::optional<EarlyUse> early;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::observe) known.push_back(op.dim);
    if (early) return;
    for (const DimId dim : dims_of(module, op)) {
      if (!module.dims.contains(dim)) continue;  // a fault of its own
      for (const DimId source : observed_sources(module.dims, dim)) {
        if (!contains(known, source)) early = EarlyUse{&op, source};
      }
    }
  });
  return early;
}

}  // namespace kasen
