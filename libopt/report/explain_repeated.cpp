// Explains the work that every worker does alike: operators on shared arrays alone.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/analysis/shared_traffic.h"
#include "libcore/ir/layout.h"
#include "libopt/report/explain_parts.h"

namespace kasen {
namespace {

bool is_repeated(const Module& plan, const Op& op) {
  const auto shared = [&](ValueId v) { return Layout(plan, v).is_shared(); };
  return !shared_traffic(plan, op).written.empty() && std::all_of(op.operands.begin(), op.operands.end(), shared);
}

Explained repeated(const PlanView& view, const Op& op) {
  const Cost& cost = view.row(op).actual;
  const Polynomial touched = cost.read + cost.written;
  Explained item{fmt::format("{}: every worker makes {} for itself, {}; {} on all of them", view.shown(op),
                             view.name(op.results.at(0)), view.often(op), view.bytes(touched))};
  item.amounts.push_back(view.amount("touched_bytes", touched));
  return item;
}

}  // namespace

ExplainedSection explain_repeated(const PlanView& view) {
  ExplainedSection section{"repeated", "Work that is not shared out", {}};
  int region = -1;  // the depth of the open region, which stands for its operators
  for_each_op(view.plan, [&](const Op& op, int, int depth) {
    if (depth <= region) region = -1;
    if (region >= 0) return;
    if (op.code == OpCode::region) region = depth;
    if (is_repeated(view.plan, op)) section.items.push_back(repeated(view, op));
  });
  return section;
}

}  // namespace kasen
