// The choice between one instruction for all lanes and one access a lane.
#include "libkernels/jit/lanes.h"

#include <gtest/gtest.h>

#include "libkernels/jit/target.h"

namespace kasen {
namespace {

TEST(Lanes, AnInstructionIsTakenUnlessItIsClearlySlower) {
  const auto chosen = [](double gather, double loads, double scatter, double stores) {
    return choose_lanes({.gather = gather, .loads = loads, .scatter = scatter, .stores = stores});
  };
  EXPECT_EQ(chosen(1, 2, 1, 2).reads, LaneAccess::together);
  EXPECT_EQ(chosen(1, 2, 1, 2).writes, LaneAccess::together);
  EXPECT_EQ(chosen(2.1, 2, 2.1, 2).reads, LaneAccess::together);
  EXPECT_EQ(chosen(2.3, 2, 1, 2).reads, LaneAccess::one_by_one);
  EXPECT_EQ(chosen(2.3, 2, 1, 2).writes, LaneAccess::together);
  EXPECT_EQ(chosen(1, 2, 2.3, 2).writes, LaneAccess::one_by_one);
}

TEST(Lanes, WhereThereIsNoInstructionLanesGoOneByOne) {
  const LaneTrial& none = lane_trial(128);
  EXPECT_EQ(choose_lanes(none).reads, LaneAccess::one_by_one);
  EXPECT_EQ(choose_lanes(none).writes, LaneAccess::one_by_one);
  EXPECT_EQ(lanes_text(none), "loads one by one, stores one by one");
}

// The trial itself: every number is a time of this processor.
TEST(Lanes, TheTrialTimesBothWays) {
  const int bits = Target().vector_bits();
  const LaneTrial& trial = lane_trial(bits);
  EXPECT_EQ(&trial, &lane_trial(bits)) << "it is made once";
  // A vector of eight takes between a fifth of a cycle and a microsecond; without the instruction there is no time.
  for (const double time : {trial.gather, trial.loads}) {
    EXPECT_EQ(time > 0.05, bits >= 256);
    EXPECT_LT(time, 1000);
  }
  for (const double time : {trial.scatter, trial.stores}) EXPECT_EQ(time > 0.05, bits == 512);
  EXPECT_NE(Target().description("a name").find(lanes_text(trial)), std::string::npos);
}

}  // namespace
}  // namespace kasen
