#include "libcore/kernels/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/kernels/kernel_set.h"

namespace kasen {
namespace {

// Below this, a difference may be noise.
constexpr double clearly = 1.1;

}  // namespace

Way chosen(const WayTimes& trial) {
  const bool missing = trial.first == 0 && trial.second > 0;
  return missing || trial.first > clearly * trial.second ? Way::second : Way::first;
}

Ways chosen(const TrialTimes& trials) {
  Ways ways;
  std::transform(trials.values.begin(), trials.values.end(), ways.values.begin(),
                 [](const WayTimes& trial) { return chosen(trial); });
  return ways;
}

MadeChoice made_choice(Choice choice, Way way, const WayTimes& trial, std::string by) {
  const ChoiceRow& row = choice_rows.at(static_cast<std::size_t>(choice));
  const bool first = way == Way::first;
  MadeChoice made{std::string(row.name), std::string(row.ways[first ? 0 : 1]), std::string(row.ways[first ? 1 : 0]), 0,
                  std::move(by)};
  if (trial.first > 0 && trial.second > 0) {
    made.gain = first ? trial.second / trial.first : trial.first / trial.second;
  }
  return made;
}

std::string choice_text(const MadeChoice& made) {
  if (made.gain == 0) return made.way;
  return fmt::format("{} ({:.2g} times as fast as {})", made.way, made.gain, made.other);
}

std::vector<MadeChoice> KernelSet::choices() const { return {}; }

}  // namespace kasen
