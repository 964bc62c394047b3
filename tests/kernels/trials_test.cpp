// The choices between ways of doing the same, and the trials that decide them.
#include "libkernels/jit/trials.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "libcore/base/built_from.h"
#include "libkernels/jit/target.h"
#include "libkernels/jit/trial_passes.h"
#include "libkernels/run/call_trial.h"

namespace kasen {
namespace {

constexpr Way other(Way way) { return way == Way::first ? Way::second : Way::first; }

TrialTimes all_of(const WayTimes& trial) {
  TrialTimes trials;
  trials.values.fill(trial);
  return trials;
}

const TrialTimes slow = all_of({9, 1}), fast = all_of({1, 9});  // the first way

TrialProfile profile_here(const TrialTimes& trials) { return {Target::name(), std::string(built_from()), trials}; }

TEST(Choices, TheFirstWayIsTakenUnlessItIsClearlySlowerOrMissing) {
  EXPECT_EQ(chosen(WayTimes{1, 2}), Way::first);
  EXPECT_EQ(chosen(WayTimes{2.1, 2}), Way::first);
  EXPECT_EQ(chosen(WayTimes{2.3, 2}), Way::second);
  EXPECT_EQ(chosen(WayTimes{0, 2}), Way::second);
  EXPECT_EQ(chosen(WayTimes{}), Way::first);
}

TEST(Choices, EachHasItsOwnNamesAndKeys) {
  std::set<std::string_view> names;
  for (const ChoiceRow& row : choice_rows) {
    names.insert({row.name, row.keys[0], row.keys[1], row.ways[0], row.ways[1]});
  }
  EXPECT_EQ(names.size(), 5 * choice_rows.size());
}

TEST(Choices, AreToldWithTheirGain) {
  const auto text = [](Way way, const WayTimes& trial) {
    return choice_text(made_choice(Choice::reads, way, trial, ""));
  };
  EXPECT_EQ(text(Way::first, {1, 2}), "gathers (2 times as fast as loads one by one)");
  EXPECT_EQ(text(Way::second, {3, 2}), "loads one by one (1.5 times as fast as gathers)");
  EXPECT_EQ(text(Way::second, {0, 2}), "loads one by one");
  EXPECT_EQ(text(Way::first, {}), "gathers");
}

TEST(Trials, WhereThereIsNoInstructionLanesGoOneByOne) {
  const Ways ways = chosen(trials_here(128));
  for (const Choice choice : {Choice::reads, Choice::writes, Choice::remainders}) EXPECT_EQ(ways[choice], Way::second);
  EXPECT_EQ(ways[Choice::stores], Way::first);
}

// Every number is a time of this processor.
TEST(Trials, TimeBothWays) {
  const int bits = Target().widest_bits();
  const TrialTimes& trials = trials_here(bits);
  EXPECT_EQ(&trials, &trials_here(bits)) << "they are made once";
  // A vector of eight takes between a fifth of a cycle and a microsecond; a long chain takes longer.
  const auto timed = [](double seconds) { return 0.05e-9 < seconds && seconds < 10e-6; };
  for (const Choice choice : {Choice::reads, Choice::remainders}) {
    EXPECT_EQ(timed(trials[choice].first), bits >= 256);
    EXPECT_TRUE(timed(trials[choice].second));
  }
  EXPECT_EQ(timed(trials[Choice::writes].first), bits == 512);
  EXPECT_EQ(timed(trials[Choice::vectors].first), bits == 512);
  EXPECT_EQ(timed(trials[Choice::chains].first), bits >= 256);
  for (const Choice choice : {Choice::stores, Choice::epilogues}) {
    EXPECT_EQ(trials[choice], WayTimes()) << "its own data decide";
  }
}

// Passes with vectors of half the width are there for all processors that have two widths; others have one.
TEST(Trials, WaysDecideWhatIsTimedNext) {
  const int bits = Target().widest_bits();
  Ways half;
  half[Choice::vectors] = Way::second;
  for (const Choice choice : {Choice::reads, Choice::chains}) {
    EXPECT_EQ(try_choice(choice, bits, half).first > 0, bits >= 256);
    EXPECT_EQ(passes_of(choice, bits, half) == passes_of(choice, bits, {}), bits != 512);
  }
}

// A profile decides only on the processor that it names, with the build that made it.
TEST(Trials, AProfileOfThisProcessorAndBuildDecides) {
  for (const auto& [trials, way] : {std::pair(slow, Way::second), {fast, Way::first}}) {
    const Target target(std::nullopt, profile_here(trials));
    for (const Way chosen : target.ways().values) EXPECT_EQ(chosen, way);
    for (const MadeChoice& made : target.choices()) {
      EXPECT_EQ(made.by, "profile");
      EXPECT_DOUBLE_EQ(made.gain, 9);
    }
  }
  TrialProfile elsewhere = profile_here(slow), older = elsewhere;
  elsewhere.processor = "z80, 8-bit vectors";
  older.build = "0";
  for (const TrialProfile& profile : {elsewhere, older}) {
    EXPECT_FALSE(Target::reason_against(profile).empty());
    EXPECT_EQ(Target(std::nullopt, profile).ways(), Target().ways());
  }
  EXPECT_TRUE(Target::reason_against(profile_here(slow)).empty());
  EXPECT_EQ(Target(std::nullopt, profile_here({})).choices().at(0).by, Target().choices().at(0).by);
}

TEST(Trials, ARequestDecidesInPlaceOfThem) {
  Ways ways = Target().ways();
  for (Way& way : ways.values) way = other(way);
  const Target target(ways, profile_here(fast));
  EXPECT_EQ(target.ways(), ways);
  for (const MadeChoice& made : target.choices()) EXPECT_EQ(made.by, "request");
}

// A step's own calls: one that is not timed, six in turn, then the faster way.
TEST(Trials, CallsTryBothWaysAndThenTakeTheFaster) {
  for (const auto& [first, second, wins] :
       {std::tuple(1.0, 2.0, Way::first), {2.0, 1.0, Way::second}, {1.05, 1.0, Way::first}}) {
    CallTrial trial;
    std::string taken;
    for (int call = 0; call < 10; ++call) {
      const Way way = trial.next();
      taken += way == Way::first ? '1' : '2';
      EXPECT_EQ(trial.times() == WayTimes(), call < 7);
      const double noise = call < 3 ? 10 : 0;
      trial.took((way == Way::first ? first : second) + noise);
    }
    EXPECT_EQ(taken, wins == Way::first ? "1121212111" : "1121212222");
    EXPECT_EQ(trial.times(), (WayTimes{first, second}));
  }
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

// Kept trials decide for every later process; a text that is none is made anew.
TEST(Trials, AreKept) {
  const Memory memory;
  const Target first({}, {}, &memory);
  ASSERT_EQ(memory.kept.size(), 1);
  std::string& text = memory.kept.begin()->second;
  const std::string made = text;
  for (const auto& [numbers, way] : {std::pair("9 1\n", Way::second), {"1 9\n", Way::first}}) {
    std::string all;
    for (std::size_t k = 0; k < choice_rows.size(); ++k) all += numbers;
    text = all;
    const Target next({}, {}, &memory);
    for (const Way chosen : next.ways().values) EXPECT_EQ(chosen, way);
    EXPECT_EQ(text, all);
  }
  for (const char* damaged : {"", "9 1", "9 1 x", "-1 2\n"}) {
    text = damaged;
    const Target again({}, {}, &memory);
    EXPECT_EQ(text, made) << damaged;
    EXPECT_EQ(again.ways(), first.ways());
  }
}

}  // namespace
}  // namespace kasen
