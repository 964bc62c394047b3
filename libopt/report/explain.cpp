#include "libopt/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/ir/module.h"
#include "libopt/optimize/strategies.h"
#include "libopt/report/explain_parts.h"
#include "libopt/sync/search.h"
#include "libopt/time/step.h"

namespace kasen {

PlanView::PlanView(const Module& module, const Sizes* sizes, const MachineProfile& profile, LawChecker& law_checker)
    : plan(module),
      machine(profile),
      report(module, sizes),
      costs(cost_context(module)),
      laws(law_checker),
      makers_(module.values.size(), nullptr),
      readers_(module.values.size()) {
  for_each_op(module, [&](const Op& op, int number, int) { numbers_[&op] = number; });
  walk(module.body, false);
}

void PlanView::walk(const Block& block, bool in_region) {
  for (const Op& op : block.ops) {
    const bool region = op.code == OpCode::region;
    for (const ValueId result : op.results) makers_[result] = &op;
    const bool hands_on = in_region && op.code == OpCode::yield;
    for (const ValueId operand : op.operands) {
      if (!region && !hands_on) readers_[operand].push_back(&op);
    }
    for (const Block& inner : op.blocks) walk(inner, region);
  }
}

const Op* PlanView::maker(ValueId value) const {
  const Op* op = makers_[value];
  if (op == nullptr || op->code != OpCode::region) return op;
  const auto place = std::find(op->results.begin(), op->results.end(), value) - op->results.begin();
  return maker(op->blocks.at(0).ops.back().operands.at(static_cast<size_t>(place)));
}

std::string PlanView::shown(const Op& op) const {
  std::string text(kasen::row(op.code).name);
  if (!op.fns.empty()) text += fmt::format("[{}]", plan.fn(op.fns[0]).name);
  return op.where.line > 0 ? fmt::format("{} at line {}", text, op.where.line) : text;
}

std::string PlanView::often(const Op& op) const {
  const int loop = row(op).loop;
  if (loop < 0) return "once";
  return fmt::format("in each iteration of the {}", report.place(report.report().rows[static_cast<size_t>(loop)]));
}

std::string PlanView::bytes(const Polynomial& polynomial) const {
  const Polynomial form = printed_form(polynomial);
  const auto value = report.value(form);
  const bool number = value && !form.constant();
  return fmt::format("{} bytes{}", report.formula(form), number ? " = " + grouped(*value) : std::string());
}

std::string PlanView::source(const Location& where) const {
  const std::string line = report.source_line(where);
  return where.line < 1 ? std::string("(made by the optimizer)") : fmt::format("line {} | {}", where.line, line);
}

namespace {

std::string price_text(const Price& price) {
  return fmt::format("{:.6g} ms: {} bytes of memory, {} on the network, {} exchanges", price.seconds * 1e3,
                     grouped(std::llround(price.memory_bytes)), grouped(std::llround(price.network_bytes)),
                     grouped(std::llround(price.rounds)));
}

// States the price of a byte on the network, in bytes of memory, at which the other plan would win.
std::string flip_text(const Price& own, const Price& other, const MachineProfile& machine) {
  const double sent = own.network_bytes - other.network_bytes;
  const double beside = (other.local_seconds - own.local_seconds) * own.workers * machine.memory_bandwidth;
  const double iteration = sent == 0 ? -1 : beside / sent;
  if (iteration <= 0) return "no price of the network would reverse the choice";
  return fmt::format("the choice reverses if a byte on the network costs {} than {:.3g} in memory (now {:.3g})",
                     sent > 0 ? "more" : "less", iteration, byte_price(machine));
}

std::string unit_name(const SyncUnit& unit) {
  constexpr size_t most = 6;
  std::string names;
  for (size_t i = 0; i < std::min(unit.names.size(), most); ++i) names += (i > 0 ? ", " : "") + unit.names[i];
  if (unit.names.size() > most) names += fmt::format(", and {} more", unit.names.size() - most);
  std::string lines;
  for (const int line : unit.lines) lines += (lines.empty() ? "" : ", ") + std::to_string(line);
  const std::string loop =
      unit.loop.line > 0 ? fmt::format(", in the loop at line {}", unit.loop.line) : ", outside of loops";
  return fmt::format("{} (line{} {}{})", names, unit.lines.size() == 1 ? "" : "s", lines, loop);
}

std::string mode_text(const SyncNote& note, const MachineProfile& machine) {
  const auto is_own = [&](const auto& priced) { return priced.first == note.chosen; };
  const Price& own = std::find_if(note.prices.begin(), note.prices.end(), is_own)->second;
  const std::pair<SyncMode, Price>* next = nullptr;
  for (const auto& priced : note.prices) {
    if (!is_own(priced) && (next == nullptr || dearer(next->second.seconds, priced.second.seconds))) next = &priced;
  }
  std::string text = fmt::format("  {}: {}\n", unit_name(note.unit), sync_name(note.chosen));
  for (const auto& [mode, price] : note.prices)
    text += fmt::format("    {:<7} {}\n", sync_name(mode), price_text(price));
  if (next == nullptr) return text + "    no other way was priced\n";
  const Price& other = next->second;
  if (!dearer(other.seconds, own.seconds) && !dearer(own.seconds, other.seconds)) {
    return text + fmt::format("    {} would cost the same\n", sync_name(next->first));
  }
  if (dearer(own.seconds, other.seconds)) {
    return text + fmt::format("    {} would be {:.3g} % cheaper (--sync auto looks for such)\n", sync_name(next->first),
                              100 * (1 - other.seconds / own.seconds));
  }
  return text + fmt::format("    the runner-up, {}, is {:.3g} % dearer; {}\n", sync_name(next->first),
                            100 * (other.seconds / own.seconds - 1), flip_text(own, other, machine));
}

std::string explain_modes(const PlanNotes& notes) {
  if (notes.sync.empty()) return "";
  std::string text =
      notes.sync_candidates > 0
          ? fmt::format("\nModes (the cheapest of {} ways; the whole plan's price with each mode of one unit)\n",
                        notes.sync_candidates)
          : std::string("\nModes (one was asked for; the whole plan's price with each mode of one unit)\n");
  if (notes.sync_cut) {
    const auto own = [&](const auto& priced) { return priced.first == notes.sync[0].chosen; };
    const Price& price = std::find_if(notes.sync[0].prices.begin(), notes.sync[0].prices.end(), own)->second;
    text += fmt::format(
        "  the program is large, and some ways were not priced; sending takes {:.3g} % of this one's time\n",
        100 * (1 - price.local_seconds / price.seconds));
  }
  if (!notes.taken.empty()) text += fmt::format("  sizes that are taken: {}\n", fmt::join(notes.taken, ", "));
  for (const SyncNote& note : notes.sync) text += mode_text(note, notes.machine);
  return text;
}

std::string explain_fusion(const PlanNotes& notes) {
  if (!notes.compared) return "";
  std::string text = "\nFusing, as a whole\n";
  text += fmt::format("  fused:          {}\n  nothing fused:  {}\n", price_text(notes.fused.actual),
                      price_text(notes.unfused.actual));
  text += fmt::format("  by the paper's model: {:.6g} ms and {:.6g} ms\n", notes.fused.model.seconds * 1e3,
                      notes.unfused.model.seconds * 1e3);
  if (notes.given_up == GivenUp::moves)
    text += "  no statement was moved to another iteration: that would have cost more\n";
  if (notes.given_up == GivenUp::fusion) text += "  nothing was fused: that would have cost more\n";
  return text;
}

std::string listed(const std::string& what, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("      {}: {}\n", what, fmt::join(names, ", "));
}

// States the strategy, the values that its plan stores and computes again, and the predicted time of the runner-up.
std::string explain_strategies(const PlanNotes& notes) {
  if (notes.strategies.prices.empty()) return "";
  std::string text = "\nStrategies (the whole plan's predicted time by each)\n" + strategies_text(notes.strategies);
  std::string points;
  for (const PointsNote& note : notes.points) {
    const std::string at = listed("stored", note.stored) + listed("within one operator", note.inside);
    if (!at.empty()) points += fmt::format("    {}\n{}", note.block, at);
  }
  text += points.empty()
              ? "  no materialization points: no value has several readers that could be fused with it\n"
              : "  materialization points (values with several readers that could be fused with it)\n" + points;
  for (const FusionNote& note : notes.fusion) {
    const std::string at =
        listed("computed again", note.again) + listed("taken apart", note.splits) + listed("not tried", note.cut);
    if (!at.empty()) text += fmt::format("  selected in the {}\n{}", note.block, at);
  }
  return text;
}

std::string explain_swaps(const PlanNotes& notes) {
  if (notes.swaps.empty()) return "";
  std::string text = "\nStores and loads (seconds by the machine profile; moves run beside operators)\n";
  for (const std::string& line : notes.swaps) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string explain_text(const Module& plan, const Sizes* sizes, const PlanNotes* notes, const MachineProfile& machine,
                         LawChecker& laws) {
  const PlanView view(plan, sizes, machine, laws);
  std::string text =
      fmt::format("{}, level {}: why the plan is as it is (bytes by the actual column)\n", plan.name, plan.level);
  if (sizes != nullptr) text += fmt::format("Sizes from {}.\n", sizes->origin);
  for (const auto section : {explain_transitions, explain_splits, explain_moves, explain_laws, explain_regions,
                             explain_repeated, explain_buffers}) {
    text += section(view);
  }
  if (notes == nullptr) {
    return text +
           "\nThe cost of the whole plan in other modes is not known: its source does not give this very plan with the "
           "options that it records and these sizes. Fuse the program again.\n";
  }
  return text + explain_swaps(*notes) + explain_modes(*notes) + explain_fusion(*notes) + explain_strategies(*notes);
}

}  // namespace kasen
