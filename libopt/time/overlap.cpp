#include "libopt/time/overlap.h"

#include <algorithm>
#include <map>

#include "libcore/ir/regions.h"
#include "libcore/schedule/schedule.h"
#include "libopt/cost/extent.h"

namespace kasen {
namespace {

const Op& product_of(const Op& op) { return op.code == OpCode::region ? op.blocks.at(0).ops.at(0) : op; }

}  // namespace

Meanwhile meanwhile(const Module& module, const Op& op, int number, LineRows rows) {
  Meanwhile work{number, rows, {}, {}};
  if (!runs_by_rows(module, op)) return work;
  const Type& type = module.type(product_of(op).results.at(0));
  work.ghosts = slave_indices(module, type);
  work.stored = stored_indices(module, type);
  return work;
}

std::vector<Window> windows(const Module& module) {
  Module own;
  const bool known = module.level >= 4;
  if (!known) {
    own = module;
    write_schedule(own);
  }
  const Module& plan = known ? module : own;
  std::map<const Op*, int> numbers;
  for_each_op(plan, [&](const Op& op, int number, int) { numbers.emplace(&op, number); });
  std::vector<Window> found;
  bool open = false;
  for_each_line(plan, [&](const Block& block, const ScheduleLine& line) {
    if (line.op < 0) return;
    const Op& op = block.ops.at(static_cast<size_t>(line.op));
    if (line.kind == LineKind::start) found.push_back({numbers.at(&op), {}});
    open = line.kind == LineKind::start || (open && line.kind != LineKind::wait);
    if (open && line.kind == LineKind::run)
      found.back().work.push_back(meanwhile(plan, op, numbers.at(&op), line.rows));
  });
  std::erase_if(found, [](const Window& window) { return window.work.empty(); });
  return found;
}

double rows_share(LineRows rows, double ghosts, double stored) {
  const double part = stored > 0 ? std::clamp(ghosts / stored, 0.0, 1.0) : 0;
  switch (rows) {
    case LineRows::all:
      return 1;
    case LineRows::ghosts:
      return part;
    case LineRows::rest:
      return 1 - part;
    case LineRows::ready:
    case LineRows::joined:
      return 0;
  }
  return 0;
}

}  // namespace kasen
