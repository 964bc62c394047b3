#include "libkernels/jit/trials.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "libkernels/jit/trial_passes.h"

namespace kasen {
namespace {

constexpr std::size_t repetitions = 24;

TrialTimes try_all(int bits) {
  TrialTimes trials;
  Ways ways;
  for (std::size_t k = 0; k < choice_rows.size(); ++k) {
    const auto choice = static_cast<Choice>(k);
    trials[choice] = try_choice(choice, bits, ways);
    ways[choice] = chosen(trials[choice]);
  }
  return trials;
}

}  // namespace

WayTimes try_choice(Choice choice, int bits, const Ways& ways) {
  using Clock = std::chrono::steady_clock;
  const TrialPasses passes = passes_of(choice, bits, ways);
  if (passes[1] == nullptr) return {};
  const auto data = std::make_unique<TrialData>();
  std::array<double, 2> least{};
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t k = 0; k < 2; ++k) {
      if (passes.at(k) == nullptr) continue;
      const auto start = Clock::now();
      passes.at(k)(*data);
      least.at(k) = std::min(least.at(k), std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  constexpr double steps = trial_steps;
  return {passes[0] == nullptr ? 0 : least[0] / steps, least[1] / steps};
}

const TrialTimes& trials_here(int vector_bits) {
  static std::mutex lock;
  static std::map<int, TrialTimes> made;
  const std::lock_guard guard(lock);
  const auto known = made.find(vector_bits);
  return known != made.end() ? known->second : made.emplace(vector_bits, try_all(vector_bits)).first->second;
}

}  // namespace kasen
