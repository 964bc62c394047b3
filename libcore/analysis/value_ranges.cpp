#include "libcore/analysis/value_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/laws/laws.h"
#include "libcore/scalar/interval_arithmetic.h"

namespace kasen {
namespace {

constexpr int patient_iterations = 3;  // before bounds that still move are given up
constexpr int followed_depth = 4;      // of loops; values that deeper ones carry are unknown

ElementRange of_words(const ElementType& type, const std::vector<Word>& words) {
  ElementRange range;
  size_t plane = 0;
  for (const Component& c : type.components) {
    const size_t first = range.size(), places = places_of(c);
    for (std::int64_t j = 0; j < c.planes(); ++j, ++plane) {
      const double v = is_float(c.scalar) ? words[plane].f : static_cast<double>(words[plane].i);
      const bool number = c.scalar != Scalar::boolean && v == v;
      const Interval one = number ? with_integer_ends(Interval::exactly(v), c.scalar) : Interval{};
      if (range.size() < first + places) {
        range.push_back(one);
      } else {
        range.back() = join(range.back(), one);
      }
    }
  }
  return range;
}

// Moves changed bounds to zero if that is far enough, else to infinity.
Interval widened(const Interval& before, const Interval& after) {
  Interval r = after;
  if (after.low < before.low) r = {after.low >= 0 ? 0.0 : Interval{}.low, r.high, false, r.below, r.not_zero};
  if (after.high > before.high) r = {r.low, after.high <= 0 ? 0.0 : Interval{}.high, r.above, false, r.not_zero};
  return r;
}

// One step towards a range that holds all of `more`, too. Returns true if nothing changed.
bool settle(ElementRange& range, const ElementRange& more, int iteration) {
  ElementRange all = join(range, more);
  if (all == range) return true;
  if (iteration >= patient_iterations) {
    for (size_t i = 0; i < all.size(); ++i) all[i] = widened(range[i], all[i]);
  }
  range = std::move(all);
  return false;
}

}  // namespace

ElementRange closed_under(const ScalarFunction& reducer, ElementRange x) {
  for (int iteration = 0;; ++iteration) {
    const std::array<ElementRange, 2> args{x, x};
    if (settle(x, range_of(reducer, args), iteration)) return x;
  }
}

ValueRanges::ValueRanges(const Module& module) : m_(module) {
  for (const Value& v : module.values) ranges_.push_back(unknown_range(v.type.element));
  block(module.body, 0);
}

void ValueRanges::assumed(const Op& op, int /*depth*/) {
  ElementRange range = unknown_range(m_.type(op.results[0]).element);
  for (const RangeAssumption& word : m_.ranges) {
    if (word.name != op.name) continue;
    const ElementType& type = m_.type(op.results[0]).element;
    for (size_t i = 0; i < range.size(); ++i) {
      if (word.place >= 0 && static_cast<size_t>(word.place) != i) continue;
      range[i] = with_integer_ends(intersect(range[i], word.range), place_scalar(type, i));
    }
  }
  set(op.results[0], std::move(range));
}

void ValueRanges::elementwise(const Op& op, int /*depth*/) {
  std::vector<ElementRange> args;
  for (const ValueId operand : op.operands) args.push_back(of(operand));
  set(op.results[0], range_of(m_.fn(op.fns[0]), args));
}

ElementRange ValueRanges::reached(const Op& op) const {
  if (op.code == OpCode::reduce || op.code == OpCode::reduce_by) {
    const auto made = combined_.find(op.operands[0]);
    const bool again = made != combined_.end() && made->second.reducer == op.fns[0];
    return again ? made->second.range : of(op.operands[0]);
  }
  const ScalarFunction& multiplier = m_.fn(op.fns[0]);
  if (is_fold(op)) return unknown_range(multiplier.result());  // results of points have no known range
  const std::array<ElementRange, 2> args{of(op.operands[0]), of(op.operands[1])};
  return range_of(multiplier, args);
}

// The range of any number of elements and identities, combined.
void ValueRanges::reduced(const Op& op, int /*depth*/) {
  const FnId fn = op.fns.back();
  const ScalarFunction& reducer = m_.fn(fn);
  auto known = identities_.find(fn);
  if (known == identities_.end()) {
    const auto identity = reducer_identity(reducer);
    known = identities_.emplace(fn, identity ? of_words(reducer.result(), *identity) : ElementRange{}).first;
  }
  ElementRange x = closed_under(reducer, reached(op));
  combined_[op.results[0]] = {fn, x};
  if (!known->second.empty()) x = closed_under(reducer, join(x, known->second));
  set(op.results[0], std::move(x));
}

void ValueRanges::contracted(const Op& op, int depth) {
  if (!reduces_terms(op)) return elementwise(op, depth);
  reduced(op, depth);
  if (!is_onto(op)) return;
  const ValueId made = op.results[0];
  combined_.erase(made);
  set(made, closed_under(m_.fn(op.fns[1]), join(of(made), of(op.operands[2]))));
}

void ValueRanges::hands_on(ValueId value, ValueId operand) {
  const auto made = combined_.find(operand);
  if (made != combined_.end()) combined_[value] = Combined(made->second);
  set(value, of(operand));
}

void ValueRanges::same(const Op& op, int /*depth*/) { hands_on(op.results[0], op.operands[0]); }

void ValueRanges::one(const Op& op, int depth) {
  using Rule = void (ValueRanges::*)(const Op&, int);
  static constexpr std::array<Rule, operator_count> rules{
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) &ValueRanges::ranges,
#include "libcore/ir/operators.def"
#undef IR_OP
  };
  (this->*rules.at(static_cast<size_t>(op.code)))(op, depth);
}

void ValueRanges::words(const Op& op, int /*depth*/) {
  set(op.results[0], of_words(m_.type(op.results[0]).element, op.literal));
}

void ValueRanges::natural(const Op& op, int /*depth*/) { set(op.results[0], {Interval::at_least(0)}); }

void ValueRanges::joined(const Op& op, int /*depth*/) {
  set(op.results[0], join(of(op.operands[0]), of(op.operands.back())));
}

void ValueRanges::all_joined(const Op& op, int /*depth*/) {
  ElementRange range = of(op.operands[0]);
  for (const ValueId operand : op.operands) range = join(range, of(operand));
  set(op.results[0], std::move(range));
}

void ValueRanges::block(const Block& b, int depth) {
  for (const Op& op : b.ops) one(op, depth);
}

void ValueRanges::loop(const Op& op, int depth) {
  const Block& body = op.blocks[0];
  const bool counted = op.code == OpCode::for_loop;
  const size_t first_operand = counted ? 2 : 0;
  const size_t first_arg = counted ? 1 : 0;
  if (counted) set(body.args[0], join(of(op.operands[0]), of(op.operands[1])));
  for (size_t i = 0; i < op.results.size(); ++i) {
    const ValueId arg = body.args[first_arg + i];
    set(arg, depth < followed_depth ? of(op.operands[first_operand + i]) : unknown_range(m_.type(arg).element));
  }
  for (int iteration = 0;; ++iteration) {
    block(body, depth + 1);
    bool settled = true;
    for (size_t i = 0; i < op.results.size(); ++i) {
      ElementRange& arg = ranges_[body.args[first_arg + i]];
      settled = settle(arg, of(body.ops.back().operands[i]), iteration) && settled;
    }
    if (settled) break;
  }
  for (size_t i = 0; i < op.results.size(); ++i) set(op.results[i], of(body.args[first_arg + i]));
}

void ValueRanges::branches(const Op& op, int depth) {
  for (size_t b = 0; b < op.blocks.size(); ++b) {
    block(op.blocks[b], depth);
    for (size_t i = 0; i < op.results.size(); ++i) {
      const ValueId given = op.blocks[b].ops.back().operands[i];
      if (op.blocks.size() == 1) {
        hands_on(op.results[i], given);
      } else {
        set(op.results[i], b == 0 ? of(given) : join(of(op.results[i]), of(given)));
      }
    }
  }
}

std::string range_fault(const Module& module, const Op& param, std::span<const Word> words) {
  const ElementType& type = module.type(param.results[0]).element;
  for (const RangeAssumption& word : module.ranges) {
    if (word.name != param.name) continue;
    for (size_t p = 0; p < words.size(); ++p) {
      const Scalar s = type.plane_scalar(static_cast<std::int64_t>(p) % type.planes());
      if (!is_numeric(s)) continue;
      const double value = is_float(s) ? words[p].f : static_cast<double>(words[p].i);
      const size_t place = place_of_plane(type, static_cast<std::int64_t>(p) % type.planes());
      const bool meant = word.place < 0 || static_cast<size_t>(word.place) == place;
      if (!meant || word.range.holds(value)) continue;
      const std::string name = word.place < 0 ? param.name : place_text(type, param.name, place);
      return fmt::format("parameter '{}' is {}, but the program assumes {}{}", name, literal_text(s, words[p]), name,
                         interval_text(word.range));
    }
  }
  return {};
}

void require_in_range(const Module& module, const Op& param, std::span<const Word> words) {
  const std::string fault = range_fault(module, param, words);
  if (!fault.empty()) fail(ExitStatus::usage, fault, "the plan relies on it", "give a number in that range");
}

}  // namespace kasen
