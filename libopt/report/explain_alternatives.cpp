// The runner-up of a transition or a split at its position, the bytes that it would move, and what would reverse the
// choice.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/layout.h"
#include "libopt/cost/extent.h"
#include "libopt/report/explain_parts.h"
#include "libopt/sync/chain_split.h"
#include "libopt/time/step.h"

namespace kasen {
namespace {

Polynomial element_bytes(const PlanView& view, ValueId value) {
  const Type& type = view.plan.type(value);
  return inner_elements(view.plan, type) * Polynomial(type.element.bytes());
}

Polynomial at_slaves(const PlanView& view, ValueId value, const State& state) {
  Type type = view.plan.type(value);
  type.state = state;
  return slave_indices(view.plan, type) * element_bytes(view, value);
}

// Returns a / b if both are multiples of one term, else by the sizes at hand.
std::optional<double> ratio(const PlanView& view, const Polynomial& a, const Polynomial& b) {
  if (b.is_zero()) return std::nullopt;
  if (a.is_zero()) return 0;
  if (a.terms().size() == 1 && b.terms().size() == 1 && a.terms().begin()->first == b.terms().begin()->first) {
    return static_cast<double>(a.terms().begin()->second) / static_cast<double>(b.terms().begin()->second);
  }
  const auto x = view.report.value(a), y = view.report.value(b);
  if (!x || !y || *y == 0) return std::nullopt;
  return static_cast<double>(*x) / static_cast<double>(*y);
}

bool never_negative(const Polynomial& polynomial) {
  const Polynomial form = printed_form(polynomial);
  const auto& terms = form.terms();
  return std::all_of(terms.begin(), terms.end(), [](const auto& term) { return term.second >= 0; });
}

// Judges a way that sends `sent` and touches `touched` more bytes than the plan, which sends `own`.
std::string turned_by(const PlanView& view, const Polynomial& own, const Polynomial& sent, const Polynomial& touched) {
  if (never_negative(sent - own)) return "no sizes and no price of the network would reverse the choice";
  const auto price = ratio(view, touched, own - sent);
  if (!price) return fmt::format("the choice reverses where {} is less than {}", view.bytes(sent), view.bytes(own));
  if (*price < 0) return "with these sizes no price of the network would reverse the choice";
  return fmt::format("cheaper if a byte on the network costs more than {:.3g} in memory (now {:.3g})", *price,
                     byte_price(view.machine));
}

// Returns the operators that take the moved value, here or where it is sent on to.
std::vector<const Op*> takers(const PlanView& view, ValueId value) {
  std::vector<const Op*> all;
  for (const Op* reader : view.readers(value)) {
    if (row(reader->code).group != OpGroup::transition) {
      all.push_back(reader);
      continue;
    }
    const std::vector<const Op*> next = takers(view, reader->results.at(0));
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

bool goes_on(const PlanView& view, const Module& with, FnId fn, FnId reducer) {
  return view.laws.law(with, LawKind::exchange, fn, reducer, 0).verdict == Verdict::proven ||
         view.laws.law(with, LawKind::pushdown, fn, reducer, 0).verdict == Verdict::proven;
}

// Returns the bodies of two halves of the function that both obey a law, if such halves exist (chain_split.h).
std::string lawful_halves(const PlanView& view, const Op& map, const std::vector<ValueId>& moved, FnId reducer) {
  if (map.code != OpCode::map) return "";
  for (size_t i = 0; i < map.operands.size(); ++i) {
    if (std::find(moved.begin(), moved.end(), map.operands[i]) == moved.end()) continue;
    for (const FunctionSplit& split : function_splits(view.plan.fn(map.fns.at(0)), static_cast<int>(i))) {
      Module with = view.plan;
      const FnId first = with.add_function(split.first), second = with.add_function(split.second);
      if (!goes_on(view, with, first, reducer) || !goes_on(view, with, second, reducer)) continue;
      return print_function(with, with.fn(first)) + ", then " + print_function(with, with.fn(second));
    }
  }
  return "";
}

// A later gather: shares go on through the operators that take them, and the results of these are gathered.
std::string gather_runner_up(const PlanView& view, const Op& gather) {
  const ValueId shares = gather.operands.at(0);
  const State& state = view.plan.type(shares).state;
  const std::vector<const Op*> readers = takers(view, gather.results.at(0));
  Polynomial sent, touched;
  for (const Op* reader : readers) {
    const OpGroup group = row(reader->code).group;
    if (group != OpGroup::vector) return "none: the sum has to be complete where it is handed on or multiplied";
    Op other = *reader;
    std::vector<ValueId> moved_here;
    for (ValueId& operand : other.operands) {
      const Op* maker = view.maker(operand);
      const bool moved = operand == gather.results.at(0) || (maker != nullptr && maker->code == OpCode::scatter &&
                                                             maker->operands.at(0) == gather.results.at(0));
      if (moved) moved_here.push_back(std::exchange(operand, shares));
    }
    const RuleAnswer answer = apply_rule(view.plan, other, view.laws);
    const std::string halves = answer.allowed ? "" : lawful_halves(view, *reader, moved_here, state.reducer);
    if (!halves.empty()) {
      return fmt::format(
          "shares that go on through the lawful halves of {}: {}; --sync lazy does so, and the modes' prices "
          "show its cost",
          view.shown(*reader), halves);
    }
    if (!answer.allowed) {
      return fmt::format("none: {} needs the sum; the choice reverses if the law of rule {} holds", view.shown(*reader),
                         answer.rule);
    }
    const ValueId result = reader->results.at(0);
    if (Layout(view.plan, result).is_shared()) continue;  // a shared is sent in any case
    sent += at_slaves(view, result, state);
    touched += at_slaves(view, result, state) + at_slaves(view, shares, state);
  }
  if (readers.empty()) return "none: nothing else reads it";
  const Polynomial own = transition_network(view.costs, gather).network;
  return fmt::format("gathering the values made of it instead would send {} and touch {} more; {}", view.bytes(sent),
                     view.bytes(touched), turned_by(view, own, sent, touched));
}

// Scatters its operands instead, and ghosts compute it for themselves (rules 9 and 13).
std::string scatter_runner_up(const PlanView& view, const Op& scatter) {
  const ValueId made = scatter.operands.at(0), sent_value = scatter.results.at(0);
  const Op* maker = view.maker(made);
  if (maker == nullptr)
    return "carrying it consistent: the same bytes in each iteration, and once more before the loop";
  if (maker->code == OpCode::gather) return "none: slaves have no complete sum of their own";
  if (row(maker->code).group != OpGroup::vector || maker->code == OpCode::reduce) {
    return fmt::format("none: {} gives masters alone", view.shown(*maker));
  }
  const State& state = view.plan.type(sent_value).state;
  Polynomial sent, touched = at_slaves(view, made, state);
  for (const ValueId operand : distinct_arrays(view.plan, maker->operands)) {
    touched += at_slaves(view, operand, state);
    if (!(view.plan.type(operand).state == state)) sent += at_slaves(view, operand, state);
  }
  const Polynomial own = transition_network(view.costs, scatter).network;
  return fmt::format("scattering its operands and computing it at slaves, too, would send {} and touch {} more; {}",
                     view.bytes(sent), view.bytes(touched), turned_by(view, own, sent, touched));
}

}  // namespace

std::string transition_runner_up(const PlanView& view, const Op& op) {
  if (Layout(view.plan, op.operands.at(0)).is_shared()) {
    return "none: every use of a shared needs it whole (rule 3)";
  }
  return op.code == OpCode::gather ? gather_runner_up(view, op) : scatter_runner_up(view, op);
}

std::string split_runner_up(const PlanView& view, const Op& scaled, ValueId sum) {
  const State& state = view.plan.type(sum).state;
  const Polynomial sent = at_slaves(view, sum, state);
  const Polynomial touched = sent + at_slaves(view, scaled.results.at(0), state);
  const auto price = ratio(view, touched, sent);
  return fmt::format(
      "in one piece {} would have to be gathered before it: {} on the network, where the first half touches "
      "{} of slaves; cheaper if a byte on the network costs less than {:.3g} in memory (now {:.3g})",
      view.name(sum), view.bytes(sent), view.bytes(touched), price.value_or(0), byte_price(view.machine));
}

}  // namespace kasen
