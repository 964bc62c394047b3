// The loops that trials time. Each has a function for every width of vectors that the processor may have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "libcore/kernels/choices.h"

namespace kasen {

// Steps of a pass, each of eight f64.
inline constexpr std::size_t trial_steps = 64;

// Every other step reads from the first cache, the rest from the second one.
struct TrialData {
  static constexpr std::size_t lanes = 8, near = 512, far = 16384;
  alignas(64) std::array<double, far> numbers{};
  alignas(64) std::array<double, trial_steps * lanes + lanes> values{};
  alignas(64) std::array<std::int32_t, trial_steps * lanes + lanes> places{};

  TrialData();
};

// Goes through all steps once.
using TrialPass = void (*)(TrialData& data);
using TrialPasses = std::array<TrialPass, 2>;

// Both ways of a choice. Null: there is no such way here; if the second is null, nothing is to be tried.
[[nodiscard]] TrialPasses passes_of(Choice choice, int vector_bits, const Ways& ways);

}  // namespace kasen
