// How lanes read and write at addresses of their own: by one instruction for all of them (gather, scatter), or lane by
// lane. Processors differ in which is faster, so a trial on this one decides. Results have the same bits.
#pragma once

#include <cstdint>
#include <string>

namespace kasen {

enum class LaneAccess : std::uint8_t { together, one_by_one };

struct LaneChoice {
  LaneAccess reads = LaneAccess::together, writes = LaneAccess::together;
};

// Nanoseconds for eight f64 in the first cache; 0 where vectors of this many bits have no such instruction.
struct LaneTrial {
  double gather = 0, loads = 0;
  double scatter = 0, stores = 0;
};

// A trial, and the processor that it was made on ("znver4, 512-bit vectors").
struct LaneProfile {
  std::string processor;
  LaneTrial trial;
};

// The trial for vectors of 128, 256 or 512 bits. It takes about 0.1 ms at the first call, and nothing later.
[[nodiscard]] const LaneTrial& lane_trial(int vector_bits);

// Takes an instruction unless the trial shows that it is slower by more than noise, or that it is missing.
[[nodiscard]] LaneChoice choose_lanes(const LaneTrial& trial);

// "no gathers (1.6 times the loads one by one), scatters (0.9 times the stores one by one)".
[[nodiscard]] std::string lanes_text(const LaneTrial& trial);

}  // namespace kasen
