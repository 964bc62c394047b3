#include "libopt/cuts/cut_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

constexpr double near_enough = 1.02;

std::string text_of(const std::string& name, const CutTime& cut, bool timed) {
  std::string text = name + " sends ";
  text += cut.bytes ? grouped(*cut.bytes) + " bytes" : grouped(cut.slaves) + " ghosts";
  if (timed) text += ", " + duration_text(*cut.seconds);
  return text + fmt::format(", imbalance {:.2f}", cut.imbalance);
}

// What the numbers are of.
std::string meaning(const Module& plan, bool timed, bool assumes_turns) {
  const ReportContext context(plan, nullptr);
  const std::vector<LoopCost>& loops = context.report().loops;
  if (loops.empty()) return timed ? "network bytes and predicted time of the program" : "network bytes of the program";
  const CostRow& row = context.report().rows[static_cast<std::size_t>(loops[0].number)];
  std::string text = "network bytes of an iteration of the " + context.place(row);
  if (timed) text += ", predicted time of ";
  if (!timed) return text;
  return text + (assumes_turns ? fmt::format("{} iterations", assumed_turns) : "the program");
}

}  // namespace

CutChoice choose_cut(const Module& plan, const std::vector<CutCandidate>& candidates, const MachineProfile& machine) {
  if (candidates.empty()) throw InternalError("a choice among no cuts");
  CutChoice choice;
  std::vector<CutTime>& all = choice.times;
  for (const CutCandidate& c : candidates) all.push_back(cut_time(plan, c.sizes, machine));
  const bool timed = std::all_of(all.begin(), all.end(), [](const CutTime& cut) { return cut.seconds.has_value(); });
  const auto cost = [&](const CutTime& cut) { return timed ? *cut.seconds : static_cast<double>(cut.slaves); };
  double least = cost(all[0]);
  for (const CutTime& cut : all) least = std::min(least, cost(cut));
  while (cost(all[choice.best]) > near_enough * least) ++choice.best;
  const CutTime perfect = cut_time(plan, without_exchange(candidates[choice.best].sizes), machine);
  if (timed && perfect.seconds) choice.most_saved = *all[choice.best].seconds - *perfect.seconds;
  choice.brief = text_of(candidates[choice.best].name, all[choice.best], timed);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != choice.best) choice.brief += "; " + text_of(candidates[i].name, all[i], timed);
  choice.why = fmt::format("{}; {}", choice.brief, meaning(plan, timed, all[choice.best].assumes_turns));
  return choice;
}

}  // namespace kasen
