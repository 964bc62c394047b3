// Explains transitions, and the ways to avoid them: splits, moved statements, laws.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/module.h"
#include "libopt/report/explain_parts.h"
#include "libopt/sync/ahead.h"

namespace kasen {
namespace {

constexpr size_t most_reasons = 4;

std::string rule_text(int rule) { return rule < 0 ? std::string() : fmt::format(" (rule {})", rule); }

// States how a reader takes the moved value, and whether it could take `weak`, the value before the transition.
std::string reader_text(const PlanView& view, const Op& reader, ValueId strong, ValueId weak) {
  const OpGroup group = row(reader.code).group;
  if (reader.code == OpCode::output) return "an output is written from its masters";
  const std::string state = state_text(view.plan, view.plan.type(strong).state);
  if (reader.code == OpCode::yield) return fmt::format("it is handed on as {}", state);
  if (group == OpGroup::control) return fmt::format("the {} takes it as {}", view.shown(reader), state);
  if (group == OpGroup::transition)
    return fmt::format("it is then sent to where it is read ({})", view.name(reader.results[0]));
  Op other = reader;
  std::replace(other.operands.begin(), other.operands.end(), strong, weak);
  const RuleAnswer answer = apply_rule(view.plan, other, view.laws);
  if (!answer.allowed) {
    return fmt::format("{} does not take it as it was{}: {}", view.shown(reader), rule_text(answer.rule), answer.why);
  }
  return fmt::format("{} would take it as it was{}; the mode moves it here", view.shown(reader),
                     rule_text(answer.rule));
}

std::string made_text(const PlanView& view, ValueId value) {
  const std::string state = state_text(view.plan, view.plan.type(value).state);
  const Op* maker = view.maker(value);
  if (maker == nullptr) return fmt::format("{} is carried as {}", view.name(value), state);
  const bool asked = row(maker->code).group == OpGroup::product || row(maker->code).group == OpGroup::vector;
  const int rule = asked ? apply_rule(view.plan, *maker, view.laws).rule : -1;
  return fmt::format("{} is {}, as {} gives it{}", view.name(value), state, view.shown(*maker), rule_text(rule));
}

Explained transition(const PlanView& view, const Op& op) {
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  const Polynomial sent = transition_network(view.costs, op).network;
  Explained item{fmt::format("{} = {} {}: sends {}, {}", view.name(to), row(op.code).name, view.name(from),
                             view.bytes(sent), view.often(op))};
  item.amounts.push_back(view.amount("network_bytes", sent));
  item.notes.push_back({made_text(view, from)});
  std::vector<std::string> reasons;
  for (const Op* reader : view.readers(to)) {
    std::string reason = reader_text(view, *reader, to, from);
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(std::move(reason));
  }
  for (size_t i = 0; i < std::min(reasons.size(), most_reasons); ++i) item.notes.push_back({reasons[i]});
  if (reasons.size() > most_reasons) item.notes.push_back({fmt::format("and {} more", reasons.size() - most_reasons)});
  item.notes.push_back({"runner-up: " + transition_runner_up(view, op)});
  return item;
}

Explained carried(const PlanView& view, const Op& scan) {
  const Polynomial sent = actual_cost(view.costs, scan).network;
  Explained item{fmt::format("{} = {}: sends {}, {}", view.name(scan.results.at(0)), view.shown(scan), view.bytes(sent),
                             view.often(scan))};
  item.amounts.push_back(view.amount("network_bytes", sent));
  item.notes.push_back(
      {fmt::format("each worker scans its part along {}, and takes up what the parts before it come to (rule 18)",
                   view.plan.dim(worked_dim(scan)).name)});
  return item;
}

// Lists what `item_of` says of operators, if it says something, under the user's lines.
template <class ItemOf>
ExplainedSection by_line(const PlanView& view, std::string key, std::string title, const ItemOf& item_of) {
  ExplainedSection section{std::move(key), std::move(title), {}, true};
  for_each_op(view.plan, [&](const Op& op, int, int) {
    std::optional<Explained> item = item_of(op);
    if (!item) return;
    item->where = op.where;
    item->source = view.report.source_line(op.where);
    section.items.push_back(*std::move(item));
  });
  return section;
}

const LawUse* law_of(const PlanView& view, const Op* op, LawKind kind) {
  if (op == nullptr || op->code != OpCode::map) return nullptr;
  const LawUse* law = law_in_force(view.plan, *op);
  return law != nullptr && law->kind == kind ? law : nullptr;
}

std::string law_text(const PlanView& view, const LawUse& law) {
  const std::string over = law.reducer == no_fn ? "" : " over " + view.plan.fn(law.reducer).name;
  return fmt::format("{} of {}{} (by {})", law_name(law.kind), view.plan.fn(law.fn).name, over, law.basis);
}

// The two halves stand for one statement: the addition is pushed down behind the scaling.
std::optional<Explained> split(const PlanView& view, const Op& op) {
  const LawUse* added = law_of(view, &op, LawKind::pushdown);
  if (added == nullptr) return std::nullopt;
  const ValueId scaled = op.operands.at(static_cast<size_t>(added->operand));
  const Op* first = view.maker(scaled);
  const LawUse* factor = law_of(view, first, LawKind::exchange);
  if (factor == nullptr || first->where != op.where) return std::nullopt;
  const ValueId sum = first->operands.at(static_cast<size_t>(factor->operand));
  Explained item{
      fmt::format("no law holds for the statement as a whole; it runs as {} by {}, then {} by {}, on shares of the sum",
                  view.shown(*first), law_text(view, *factor), view.shown(op), law_text(view, *added))};
  item.notes.push_back({"runner-up: " + split_runner_up(view, *first, sum)});
  return item;
}

}  // namespace

ExplainedSection explain_transitions(const PlanView& view) {
  return by_line(view, "transitions", "Transitions", [&](const Op& op) -> std::optional<Explained> {
    if (carried_axes(view.plan, op) != 0) return carried(view, op);
    if (row(op.code).group != OpGroup::transition) return std::nullopt;
    return transition(view, op);
  });
}

ExplainedSection explain_splits(const PlanView& view) {
  return by_line(view, "splits", "Splits", [&](const Op& op) { return split(view, op); });
}

ExplainedSection explain_moves(const PlanView& view) {
  const IdMap<ValueId, const Op*> ahead = made_ahead(view.plan);
  return by_line(view, "moves", "Statements that run ahead", [&](const Op& op) -> std::optional<Explained> {
    if (!op.speculated) return std::nullopt;
    const ValueId made = op.results.at(0);
    const std::string what = fmt::format("{} = {}: ", view.name(made), view.shown(op));
    if (const Op* branch = ahead[made]) {
      return Explained{what +
                       fmt::format("moved before the {}, whose first branch is likely; with work that touches the same "
                                   "arrays; made in vain when that branch does not run",
                                   view.report.place(view.row(*branch)))};
    }
    const int loop = view.row(op).loop;
    const bool likely = loop >= 0 && view.report.report().rows[static_cast<size_t>(loop)].code == OpCode::while_loop;
    return Explained{
        what + fmt::format("the next iteration's{}, fused with the work that makes its operands; made once in vain",
                           likely ? ", moved here since the while is likely to go on" : "")};
  });
}

ExplainedSection explain_laws(const PlanView& view) {
  ExplainedSection section{"laws", "Laws that the plan relies on", {}};
  for (const LawUse& law : view.plan.laws) {
    std::string users;
    for_each_op(view.plan, [&](const Op& op, int, int) {
      if (op.code == OpCode::map && law_in_force(view.plan, op) == &law)
        users += (users.empty() ? "" : ", ") + view.shown(op);
    });
    section.items.push_back(
        {fmt::format("{}: {}", law_text(view, law), users.empty() ? "not needed any more" : users)});
  }
  return section;
}

}  // namespace kasen
