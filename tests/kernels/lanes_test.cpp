// The choice between one instruction for all lanes and one access a lane.
#include "libkernels/jit/lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

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

// A profile decides only on the processor that it names.
TEST(Lanes, AProfileOfThisProcessorDecides) {
  const std::string name = Target::name();
  const LaneTrial slow{.gather = 9, .loads = 1, .scatter = 9, .stores = 1}, fast{1, 9, 1, 9};
  for (const auto& [trial, access] : {std::pair(slow, LaneAccess::one_by_one), {fast, LaneAccess::together}}) {
    const Target target(std::nullopt, LaneProfile{name, trial});
    EXPECT_EQ(target.lanes().reads, access);
    EXPECT_EQ(target.lanes().writes, access);
    EXPECT_NE(target.description("").find(lanes_text(trial) + " by the profile"), std::string::npos);
  }
  const Target own, other(std::nullopt, LaneProfile{"z80, 8-bit vectors", slow});
  EXPECT_EQ(other.description(""), own.description("") + "; the profile is of z80, 8-bit vectors");
  EXPECT_EQ(other.lanes().reads, own.lanes().reads);
}

class Memory : public CodeStore {
 public:
  [[nodiscard]] bool open() const override { return true; }
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const override {
    return kept.contains(key) ? std::optional(kept.at(key)) : std::nullopt;
  }
  void keep(const std::string& key, std::string_view code) const override { kept[key] = code; }
  mutable std::map<std::string, std::string> kept;
};

// A kept trial decides for every later process; a text that is none is made anew.
TEST(Lanes, ATrialIsKept) {
  const Memory memory;
  const Target first({}, {}, &memory);
  ASSERT_EQ(memory.kept.size(), 1);
  std::string& text = memory.kept.begin()->second;
  const std::string made = text;
  for (const auto& [numbers, access] :
       {std::pair("9 1 9 1", LaneAccess::one_by_one), {"1 9 1 9", LaneAccess::together}}) {
    text = numbers;
    const Target next({}, {}, &memory);
    EXPECT_EQ(next.lanes().reads, access);
    EXPECT_EQ(next.lanes().writes, access);
    EXPECT_EQ(text, numbers);
  }
  text = "9 1";
  const Target again({}, {}, &memory);
  EXPECT_EQ(text, made);
  EXPECT_EQ(again.lanes().reads, first.lanes().reads);
}

}  // namespace
}  // namespace kasen
