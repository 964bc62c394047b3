// Explains transitions, and the ways to avoid them: splits, moved statements, laws.
#include <fmt/format.h>

#include <algorithm>

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

std::string transition_text(const PlanView& view, const Op& op) {
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  std::string text = fmt::format("    {} = {} {}: sends {}, {}\n", view.name(to), row(op.code).name, view.name(from),
                                 view.bytes(transition_network(view.costs, op).network), view.often(op));
  text += fmt::format("      {}\n", made_text(view, from));
  std::vector<std::string> reasons;
  for (const Op* reader : view.readers(to)) {
    std::string reason = reader_text(view, *reader, to, from);
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(std::move(reason));
  }
  for (size_t i = 0; i < std::min(reasons.size(), most_reasons); ++i) text += fmt::format("      {}\n", reasons[i]);
  if (reasons.size() > most_reasons) text += fmt::format("      and {} more\n", reasons.size() - most_reasons);
  return text + fmt::format("      runner-up: {}\n", transition_runner_up(view, op));
}

std::string carried_text(const PlanView& view, const Op& scan) {
  return fmt::format(
      "    {} = {}: sends {}, {}\n"
      "      each worker scans its part along {}, and takes up what the parts before it come to (rule 18)\n",
      view.name(scan.results.at(0)), view.shown(scan), view.bytes(actual_cost(view.costs, scan).network),
      view.often(scan), view.plan.dim(worked_dim(scan)).name);
}

// Lists the text of `text_of` for operators under the user's lines.
template <class Text>
std::string by_line(const PlanView& view, const std::string& heading, const Text& text_of) {
  std::string text;
  int line = -1;
  for_each_op(view.plan, [&](const Op& op, int, int) {
    const std::string entry = text_of(op);
    if (entry.empty()) return;
    if (op.where.line != line) text += fmt::format("  {}\n", view.source(op.where));
    line = op.where.line;
    text += entry;
  });
  return text.empty() ? text : "\n" + heading + "\n" + text;
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
std::string split_text(const PlanView& view, const Op& op) {
  const LawUse* added = law_of(view, &op, LawKind::pushdown);
  if (added == nullptr) return "";
  const ValueId scaled = op.operands.at(static_cast<size_t>(added->operand));
  const Op* first = view.maker(scaled);
  const LawUse* factor = law_of(view, first, LawKind::exchange);
  if (factor == nullptr || first->where != op.where) return "";
  const ValueId sum = first->operands.at(static_cast<size_t>(factor->operand));
  return fmt::format(
      "    no law holds for the statement as a whole; it runs as {} by {}, then {} by {}, on shares of the sum\n"
      "      runner-up: {}\n",
      view.shown(*first), law_text(view, *factor), view.shown(op), law_text(view, *added),
      split_runner_up(view, *first, sum));
}

}  // namespace

std::string explain_transitions(const PlanView& view) {
  return by_line(view, "Transitions", [&](const Op& op) {
    if (carried_axes(view.plan, op) != 0) return carried_text(view, op);
    return row(op.code).group == OpGroup::transition ? transition_text(view, op) : std::string();
  });
}

std::string explain_splits(const PlanView& view) {
  return by_line(view, "Splits", [&](const Op& op) { return split_text(view, op); });
}

std::string explain_moves(const PlanView& view) {
  const IdMap<ValueId, const Op*> ahead = made_ahead(view.plan);
  return by_line(view, "Statements that run ahead", [&](const Op& op) {
    if (!op.speculated) return std::string();
    const ValueId made = op.results.at(0);
    const std::string what = fmt::format("    {} = {}: ", view.name(made), view.shown(op));
    if (const Op* branch = ahead[made]) {
      return what + fmt::format(
                        "moved before the {}, whose first branch is likely; with work that touches the same arrays; "
                        "made in vain when that branch does not run\n",
                        view.report.place(view.row(*branch)));
    }
    const int loop = view.row(op).loop;
    const bool likely = loop >= 0 && view.report.report().rows[static_cast<size_t>(loop)].code == OpCode::while_loop;
    return what +
           fmt::format("the next iteration's{}, fused with the work that makes its operands; made once in vain\n",
                       likely ? ", moved here since the while is likely to go on" : "");
  });
}

std::string explain_laws(const PlanView& view) {
  std::string text;
  for (const LawUse& law : view.plan.laws) {
    std::string users;
    for_each_op(view.plan, [&](const Op& op, int, int) {
      if (op.code == OpCode::map && law_in_force(view.plan, op) == &law)
        users += (users.empty() ? "" : ", ") + view.shown(op);
    });
    text += fmt::format("  {}: {}\n", law_text(view, law), users.empty() ? "not needed any more" : users);
  }
  return text.empty() ? text : "\nLaws that the plan relies on\n" + text;
}

}  // namespace kasen
