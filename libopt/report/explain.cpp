#include "libopt/report/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

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
  return fmt::format("{} bytes{}", report.formula(form), report.number(form, grouped));
}

Amount PlanView::amount(std::string name, const Polynomial& polynomial) const {
  const Polynomial form = printed_form(polynomial);
  return {std::move(name), report.formula(form), report.value(form)};
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

Explained priced(std::string what, const Price& price) {
  Explained item{std::move(what)};
  item.price = price;
  return item;
}

// How the next best way stands beside the plan's.
std::string beside_text(const Price& own, const std::pair<SyncMode, Price>* next, const MachineProfile& machine) {
  if (next == nullptr) return "no other way was priced";
  const Price& other = next->second;
  if (!dearer(other.seconds, own.seconds) && !dearer(own.seconds, other.seconds))
    return fmt::format("{} would cost the same", sync_name(next->first));
  if (dearer(own.seconds, other.seconds)) {
    return fmt::format("{} would be {:.3g} % cheaper (--sync auto looks for such)", sync_name(next->first),
                       100 * (1 - other.seconds / own.seconds));
  }
  return fmt::format("the runner-up, {}, is {:.3g} % dearer; {}", sync_name(next->first),
                     100 * (other.seconds / own.seconds - 1), flip_text(own, other, machine));
}

Explained mode_item(const SyncNote& note, const MachineProfile& machine) {
  const auto is_own = [&](const auto& priced) { return priced.first == note.chosen; };
  const Price& own = std::find_if(note.prices.begin(), note.prices.end(), is_own)->second;
  const std::pair<SyncMode, Price>* next = nullptr;
  for (const auto& priced : note.prices) {
    if (!is_own(priced) && (next == nullptr || dearer(next->second.seconds, priced.second.seconds))) next = &priced;
  }
  Explained item{fmt::format("{}: {}", unit_name(note.unit), sync_name(note.chosen))};
  for (const auto& [mode, price] : note.prices)
    item.notes.push_back(priced(fmt::format("{:<7} {}", sync_name(mode), price_text(price)), price));
  item.notes.push_back({beside_text(own, next, machine)});
  return item;
}

ExplainedSection explain_modes(const PlanNotes& notes) {
  ExplainedSection section{
      "modes",
      notes.sync_candidates > 0
          ? fmt::format("Modes (the cheapest of {} ways; the whole plan's price with each mode of one unit)",
                        notes.sync_candidates)
          : std::string("Modes (one was asked for; the whole plan's price with each mode of one unit)"),
      {}};
  if (notes.sync.empty()) return section;
  if (notes.sync_cut) {
    const auto own = [&](const auto& priced) { return priced.first == notes.sync[0].chosen; };
    const Price& price = std::find_if(notes.sync[0].prices.begin(), notes.sync[0].prices.end(), own)->second;
    section.items.push_back(
        {fmt::format("the program is large, and some ways were not priced; sending takes {:.3g} % of this one's time",
                     100 * (1 - price.local_seconds / price.seconds))});
  }
  if (!notes.taken.empty())
    section.items.push_back({fmt::format("sizes that are taken: {}", fmt::join(notes.taken, ", "))});
  for (const SyncNote& note : notes.sync) section.items.push_back(mode_item(note, notes.machine));
  return section;
}

ExplainedSection explain_fusion(const PlanNotes& notes) {
  ExplainedSection section{"fusing", "Fusing, as a whole", {}};
  if (!notes.compared) return section;
  const Price& fused = notes.fused.actual;
  const Price& unfused = notes.unfused.actual;
  section.items.push_back(priced("fused:          " + price_text(fused), fused));
  section.items.push_back(priced("nothing fused:  " + price_text(unfused), unfused));
  section.items.push_back({fmt::format("by the paper's model: {:.6g} ms and {:.6g} ms", notes.fused.model.seconds * 1e3,
                                       notes.unfused.model.seconds * 1e3)});
  if (notes.given_up == GivenUp::moves)
    section.items.push_back({"no statement was moved to another iteration: that would have cost more"});
  if (notes.given_up == GivenUp::fusion) section.items.push_back({"nothing was fused: that would have cost more"});
  return section;
}

// Lists that have a name: "stored: a, b".
std::vector<Explained> listed(const std::vector<std::pair<const char*, const std::vector<std::string>*>>& lists) {
  std::vector<Explained> items;
  for (const auto& [what, names] : lists)
    if (!names->empty()) items.push_back({fmt::format("{}: {}", what, fmt::join(*names, ", "))});
  return items;
}

// States the strategy, the values that its plan stores and computes again, and the predicted time of the runner-up.
ExplainedSection explain_strategies(const PlanNotes& notes) {
  ExplainedSection section{"strategies", "Strategies (the whole plan's predicted time by each)", {}};
  if (notes.strategies.prices.empty()) return section;
  std::istringstream lines(strategies_text(notes.strategies));
  for (std::string line; std::getline(lines, line);) {
    const size_t number = section.items.size();
    section.items.push_back({line.substr(line.find_first_not_of(' '))});
    if (number < notes.strategies.prices.size())
      section.items.back().price = notes.strategies.prices[number].price.actual;
  }
  std::vector<Explained> points;
  for (const PointsNote& note : notes.points) {
    std::vector<Explained> at = listed({{"stored", &note.stored}, {"within one operator", &note.inside}});
    if (!at.empty()) points.push_back({note.block, std::move(at)});
  }
  if (points.empty())
    section.items.push_back({"no materialization points: no value has several readers that could be fused with it"});
  else
    section.items.push_back(
        {"materialization points (values with several readers that could be fused with it)", std::move(points)});
  for (const FusionNote& note : notes.fusion) {
    std::vector<Explained> at =
        listed({{"computed again", &note.again}, {"taken apart", &note.splits}, {"not tried", &note.cut}});
    if (!at.empty()) section.items.push_back({"selected in the " + note.block, std::move(at)});
  }
  return section;
}

ExplainedSection explain_swaps(const PlanNotes& notes) {
  ExplainedSection section{
      "swaps", "Stores and loads (seconds by the machine profile; moves run beside operators)", {}};
  for (const std::string& line : notes.swaps) section.items.push_back({line});
  return section;
}

}  // namespace

Explanation explanation_of(const Module& plan, const Sizes* sizes, const PlanNotes* notes,
                           const MachineProfile& machine, LawChecker& laws) {
  const PlanView view(plan, sizes, machine, laws);
  Explanation made{plan.name, plan.level, sizes != nullptr ? sizes->origin : std::string(), {}, notes != nullptr};
  const auto add = [&](ExplainedSection section) {
    if (!section.items.empty()) made.sections.push_back(std::move(section));
  };
  for (const auto section : {explain_transitions, explain_splits, explain_moves, explain_laws, explain_regions,
                             explain_repeated, explain_buffers}) {
    add(section(view));
  }
  if (notes == nullptr) return made;
  for (const auto section : {explain_swaps, explain_modes, explain_fusion, explain_strategies}) add(section(*notes));
  return made;
}

std::string explain_text(const Module& plan, const Sizes* sizes, const PlanNotes* notes, const MachineProfile& machine,
                         LawChecker& laws) {
  return explanation_text(explanation_of(plan, sizes, notes, machine, laws));
}

}  // namespace kasen
