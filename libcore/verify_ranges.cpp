// What functions declare of their arguments, every use keeps: laws rely on it.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/value_ranges.h"
#include "libcore/verify_rules.h"

namespace kasen {
namespace {

bool declares(const ScalarFunction& fn) {
  return std::any_of(fn.params.begin(), fn.params.end(), [](const ScalarParam& p) { return !p.range.everything(); });
}

struct RangeCheck {
  const Module& m;
  const ValueRanges& ranges;
  Faults& faults;

  void operand(const Op& op, const ScalarFunction& fn, size_t i) {
    const ScalarParam& param = fn.params[i];
    if (param.range.everything()) return;
    const Interval& known = ranges.of(op.operands[i])[0];
    const std::string wanted = fmt::format("{} takes {}{}", fn.name, param.name, interval_text(param.range));
    if (m.type(op.operands[i]).state.is_pre()) {
      return faults.add(op, wanted, value_text(m, op.operands[i]) + " is pre-reduced: workers hold parts of it",
                        "gather it first");
    }
    if (contains(param.range, known)) return;
    const std::string text = interval_text(known);
    faults.add(op, wanted,
               text.empty() ? "nothing is known of " + value_text(m, op.operands[i])
                            : "of " + value_text(m, op.operands[i]) + " is known:" + text,
               "say so of the program's inputs and params with 'assume', or use a function without that range");
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      for (size_t f = 0; f < op.fns.size(); ++f) {
        const ScalarFunction& fn = m.fn(op.fns[f]);
        if (!declares(fn)) continue;
        const bool elementwise = op.code == OpCode::map || op.code == OpCode::apply;
        if (!elementwise) faults.add(op, fn.name + " declares ranges", "only functions of map and apply do");
        for (size_t i = 0; elementwise && i < fn.params.size(); ++i) operand(op, fn, i);
      }
      for (const Block& inner : op.blocks) block(inner);
    }
  }
};

}  // namespace

void verify_ranges(const Module& module, Faults& faults) {
  if (std::none_of(module.functions.begin(), module.functions.end(), declares)) return;
  const ValueRanges ranges(module);
  RangeCheck{module, ranges, faults}.block(module.body);
}

}  // namespace kasen
