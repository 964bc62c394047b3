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

std::string repeated_text(const PlanView& view, const Op& op) {
  const Cost& cost = view.row(op).actual;
  return fmt::format("  {}: every worker makes {} for itself, {}; {} on all of them\n", view.shown(op),
                     view.name(op.results.at(0)), view.often(op), view.bytes(cost.read + cost.written));
}

}  // namespace

std::string explain_repeated(const PlanView& view) {
  std::string text;
  int region = -1;  // the depth of the open region, which stands for its operators
  for_each_op(view.plan, [&](const Op& op, int, int depth) {
    if (depth <= region) region = -1;
    if (region >= 0) return;
    if (op.code == OpCode::region) region = depth;
    if (is_repeated(view.plan, op)) text += repeated_text(view, op);
  });
  return text.empty() ? text : "\nWork that is not shared out\n" + text;
}

}  // namespace kasen
