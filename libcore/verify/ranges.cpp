// Every use of a function keeps the ranges that it declares for its arguments: laws rely on them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/analysis/value_ranges.h"
#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

struct RangeCheck {
  const Module& m;
  const ValueRanges& ranges;
  Faults& faults;

  // The first place at which `known` leaves the range `wanted`; the number of places if there is none.
  static size_t outside(const ElementRange& wanted, const ElementRange& known) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!contains(wanted[i], known[i])) return i;
    }
    return wanted.size();
  }

  void tell(const Op& op, const ScalarFunction& fn, const ScalarParam& param, size_t place, const Interval& known,
            const std::string& of) {
    const std::string text = interval_text(known);
    faults.add(op,
               fmt::format("{} takes {}{}", fn.name, place_text(param.type, param.name, place),
                           interval_text(param.range[place])),
               text.empty() ? "nothing is known of " + of : "the range of " + of + " is" + text,
               "state it for the program's inputs and params with 'assume', or use a function without that range");
  }

  void operand(const Op& op, const ScalarFunction& fn, size_t i) {
    const ScalarParam& param = fn.params[i];
    if (param.range.empty()) return;
    if (m.type(op.operands[i]).state.is_pre()) {
      return faults.add(op, fmt::format("{} takes {}{}", fn.name, param.name, range_text(param.range)),
                        value_text(m, op.operands[i]) + " is pre-reduced: workers hold parts of it", "gather it first");
    }
    const ElementRange& known = ranges.of(op.operands[i]);
    const size_t place = outside(param.range, known);
    if (place < param.range.size()) tell(op, fn, param, place, known[place], value_text(m, op.operands[i]));
  }

  // If a reducer declares ranges, its laws hold for elements in them. The elements that reach it, and its result for
  // two such elements, must lie in the range. Its identity, which workers without a contribution hold, need not: it
  // leaves every element as it is. Values that are pre-reduced by it are made of such elements.
  void reducer(const Op& op, const ScalarFunction& fn) {
    const ScalarParam& a = fn.params[0];
    if (fn.params.size() != 2 || a.range != fn.params[1].range) {
      return faults.add(op, fn.name + " declares ranges of one parameter", "a reducer's parameters have the same");
    }
    const std::array<ElementRange, 2> both{a.range, a.range};
    const ElementRange made = range_of(fn, both);
    if (const size_t place = outside(a.range, made); place < a.range.size()) {
      return tell(op, fn, a, place, made[place], fn.name + " of two elements in its range");
    }
    if (op.code == OpCode::reduce && m.type(op.operands[0]).state.is_pre()) return;
    const ElementRange reached = ranges.reached(op);
    const size_t place = outside(a.range, reached);
    if (place < a.range.size()) tell(op, fn, a, place, reached[place], "its operands");
  }

  void uses(const Op& op) {
    const bool elementwise = op.code == OpCode::map || op.code == OpCode::apply;
    const bool reduces = op.code == OpCode::reduce || op.code == OpCode::reduce_by || reduces_terms(op);
    for (size_t f = 0; f < op.fns.size(); ++f) {
      const ScalarFunction& fn = m.fn(op.fns[f]);
      if (!declares_range(fn)) continue;
      if (reduces && f + 1 == op.fns.size()) {
        reducer(op, fn);
      } else if (!elementwise) {
        faults.add(op, fn.name + " declares ranges", "only functions of map and apply, and reducers, do");
      } else {
        for (size_t i = 0; i < fn.params.size(); ++i) operand(op, fn, i);
      }
    }
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      uses(op);
      for (const Block& inner : op.blocks) block(inner);
    }
  }
};

}  // namespace

void verify_ranges(const Module& module, Faults& faults) {
  if (std::none_of(module.functions.begin(), module.functions.end(), declares_range)) return;
  const ValueRanges ranges(module);
  RangeCheck{module, ranges, faults}.block(module.body);
}

}  // namespace kasen
