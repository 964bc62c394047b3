// Arrays that a plan stores on a disk and loads again: what the executor moves, in which order, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "libcore/data/disk_elements.h"
#include "libcore/laws/laws.h"
#include "libcore/run/border.h"
#include "libcore/run/executor.h"
#include "libcore/stream/simulated_tier.h"
#include "libcore/stream/tier_mover.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

constexpr std::int64_t group = SpilledElements::group;

// a and b of N each take turns in one buffer; a comes back twice, and is stored once.
std::string plan_text(const std::string& memory) {
  return "kir 1 level 3\nmodule m {\n  dim N\n  fn half(x: f64) -> f64 = 0.5 * x\n"
         "  fn add(x: f64, y: f64) -> f64 = x + y\n" +
         memory +
         "  buffer ~b0 : f64[N]\n  buffer ~b1 : f64[N]\n  buffer ~b2 : f64[N] on disk\n  buffer ~b3 : f64[N] on disk\n"
         "  %x = input \"x\" : f64[N] @part\n  %a = map[half] %x : f64[N] @part ~b0\n"
         "  %ad = store %a : f64[N] @part ~b2\n  %b = map[add] %x, %x : f64[N] @part ~b0\n"
         "  %a2 = load %ad : f64[N] @part ~b1\n  %c = map[add] %a2, %b : f64[N] @part ~b1\n"
         "  %a3 = load %ad : f64[N] @part ~b0\n  %d = map[add] %a3, %c : f64[N] @part ~b1\n"
         "  %dd = store %d : f64[N] @part ~b2\n  %lo = literal 0 : i64 @cons\n  %hi = literal 4 : i64 @cons\n"
         "  %e = for %i : i64 @cons in %lo, %hi (%f : f64[N] @part ~b2 = %dd) : f64[N] @part ~b2 {\n"
         "    %g = load %f : f64[N] @part ~b0\n    %h = map[half] %g : f64[N] @part ~b0\n"
         "    %hd = store %h : f64[N] @part ~b3\n    yield %hd\n  }\n  %t = load %e : f64[N] @part ~b1\n"
         "  output \"t\" %t\n}\n##end\n";
}

Module plan(const std::string& memory = "") {
  Module module = parse_module(plan_text(memory), "m.kir");
  TrialLawChecker laws;
  require_valid(module, laws);
  return module;
}

std::vector<Part> parts_of(int workers, std::int64_t size) {
  testing::TestData data;
  data.workers = workers;
  std::vector<int> owners;
  testing::TestArray x{{"N"}, ElementType::of(Scalar::f64), {}};
  for (std::int64_t i = 0; i < size; ++i) {
    owners.push_back(static_cast<int>(i % workers));
    x.words.push_back(Word::real(static_cast<double>(i % 1000)));
  }
  data.dims["N"] = {size, false, owners};
  data.arrays["x"] = x;
  return testing::split(data);
}

RunOptions on(Tier& tier) {
  RunOptions options;
  options.spill = &tier;
  return options;
}

TEST(Tiers, MoveWhatThePlanSays) {
  const auto tier = stream::make_simulated_tier();
  for (const int workers : {1, 2, 3}) {
    for (const std::int64_t size : {std::int64_t{5}, group, 3 * group + 1}) {
      const RunResult result = testing::expect_runs(plan(), parts_of(workers, size), 0, on(*tier));
      std::int64_t read = 0, written = 0, once = 0;
      for (int w = 0; w < workers; ++w) {
        const std::int64_t own = size / workers + (w < size % workers ? 1 : 0);
        once += (own + group - 1) / group * group * 8;
      }
      for (const OpCount& count : result.ops) {
        read += count.disk_read_bytes;
        written += count.disk_written_bytes;
      }
      EXPECT_EQ(read, (2 + 4 + 1) * once);
      EXPECT_EQ(written, (1 + 1 + 4) * once);
      EXPECT_EQ(result.parts.at(0).buffer_bytes,
                2 * storage_bytes(ElementType::of(Scalar::f64), (size + workers - 1) / workers));
    }
  }
}

// The disk takes its time, so that a step that did not wait would read what is not there.
TEST(Tiers, WaitForSlowDisks) {
  const auto tier =
      stream::make_simulated_tier([](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  (void)testing::expect_runs(plan(), parts_of(2, group), 0, on(*tier));
}

TEST(Tiers, KeepTheLimitOfMemory) {
  const auto tier = stream::make_simulated_tier();
  const std::int64_t two = 2 * storage_bytes(ElementType::of(Scalar::f64), group);
  (void)testing::expect_runs(plan("  memory " + std::to_string(two) + "\n"), parts_of(1, group), 0, on(*tier));
  try {
    (void)testing::run_simulated(plan("  memory " + std::to_string(two - 1) + "\n"), parts_of(1, group), on(*tier));
    FAIL() << "more memory than the plan allows";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit) << error.what();
  }
  const std::string shared =
      "kir 1 level 3\nmodule m {\n  dim F local = 100\n  memory 799\n  buffer ~b0 : f64[F]\n"
      "  %a = fill 1.0 : f64[F] @cons ~b0\n  output \"a\" %a\n}\n##end\n";
  TrialLawChecker laws;
  const std::vector<Diagnostic> faults = verify_module(parse_module(shared, "m.kir"), laws);
  ASSERT_EQ(faults.size(), 1);
  EXPECT_NE(format_diagnostic(faults[0]).find("the buffers take more than 799 bytes"), std::string::npos);
}

TEST(Tiers, NeedADisk) { EXPECT_THROW((void)testing::run_simulated(plan(), parts_of(1, 9)), UserError); }

Array copy_of(const Array& array) {
  Array copy(array.element, array.count);
  std::copy_n(array.bytes.data(), array.bytes.size(), copy.bytes.data());
  return copy;
}

// What lies on the disk at a border is read from there, and goes there again when a run resumes. Neither is counted.
TEST(Tiers, GoOnFromEveryBorder) {
  struct Kept {
    BorderPlace place;
    std::map<std::pair<ValueId, int>, Array> arrays;
  };
  const std::vector<Part> parts = parts_of(2, 2 * group + 5);
  const auto tier =
      stream::make_simulated_tier([](std::int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
  std::vector<Kept> borders;
  RunOptions options = on(*tier);
  options.on_border = [&](const Border& border) {
    borders.push_back({border.place(), {}});
    for (const HeldValue& held : border.values()) {
      for (int p = 0; p < 2; ++p) borders.back().arrays.emplace(std::pair(held.value, p), border.read(held, 0, p));
    }
  };
  const RunResult whole = testing::expect_runs(plan(), parts, 0, options);
  const auto moved = [](const RunResult& result) {
    std::int64_t bytes = 0;
    for (const OpCount& count : result.ops) bytes += count.disk_read_bytes + count.disk_written_bytes;
    return bytes;
  };
  EXPECT_EQ(moved(whole), moved(testing::expect_runs(plan(), parts, 0, on(*tier))));
  ASSERT_GE(borders.size(), 8);
  for (const Kept& kept : borders) {
    const ResumePoint point{kept.place, [&](const HeldValue& held, std::int64_t, int part, std::int64_t count) {
                              const Array& array = kept.arrays.at({held.value, part});
                              EXPECT_EQ(array.count, count);
                              return copy_of(array);
                            }};
    RunOptions again = on(*tier);
    again.resume = &point;
    const RunResult rest = testing::run_simulated(plan(), parts, again);
    EXPECT_LE(moved(rest), moved(whole));
    for (std::size_t p = 0; p < 2; ++p) {
      const Array &x = whole.outputs.at(0).parts.at(p).data, &y = rest.outputs.at(0).parts.at(p).data;
      ASSERT_EQ(x.count, y.count);
      EXPECT_TRUE(std::equal(x.bytes.data(), x.bytes.data() + x.bytes.size(), y.bytes.data()))
          << kept.place.op << ' ' << kept.place.iterations;
    }
  }
}

TEST(Tiers, FindNothingNewInWhatTheyLoad) {
  const auto tier = stream::make_simulated_tier();
  RunOptions options = on(*tier);
  options.refuse_nan = true;
  (void)testing::expect_runs(plan(), parts_of(2, 100), 0, options);
}

TEST(Tiers, EndWithTheDisksFault) {
  for (const int last : {0, 3, 8}) {
    std::atomic<int> events = 0;
    const auto tier = stream::make_simulated_tier([&](std::int64_t) {
      if (events++ == last) fail(ExitStatus::io, "the disk is gone");
    });
    try {
      (void)testing::run_simulated(plan(), parts_of(1, group), on(*tier));
      FAIL() << "a fault was lost";
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::io);
    }
  }
}

// Jobs of two threads on few arrays and places, against a copy that does one after the other.
TEST(TierMover, KeepsTheOrderOfWhatMeets) {
  const ElementType pairs{{{Scalar::f64, no_dim, 0}, {Scalar::boolean, no_dim, 0}}, true};
  for (const ElementType& element : {ElementType::of(Scalar::f64), pairs}) {
    const auto tier = stream::make_simulated_tier();
    stream::TierMover mover;
    constexpr std::int64_t count = group + 17;
    std::vector<Array> arrays;
    for (int i = 0; i < 3; ++i) arrays.emplace_back(element, count);
    std::vector<std::byte*> places;
    for (int i = 0; i < 3; ++i) places.push_back(mover.add(element, count, *tier));
    std::vector<double> held{0, 1, 2}, stored(3, -1);
    std::uint64_t random = 1;
    const auto memory = [&](size_t i) { return ElementMemory{arrays[i].bytes.data(), element, count}; };
    const auto set = [&](size_t i, double value) {
      mover.await_writing(arrays[i].bytes.data());
      std::fill_n(arrays[i].as<double>(), count, value);
      held[i] = value;
    };
    for (size_t i = 0; i < 3; ++i) set(i, held[i]);
    for (int step = 0; step < 400; ++step) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const size_t i = (random >> 33) % 3, k = (random >> 40) % 3;
      if (step % 3 == 0) {
        mover.store(places[k], memory(i), count, step);
        stored[k] = held[i];
      } else if (step % 3 == 1 && stored[k] >= 0) {
        mover.load(places[k], memory(i), count, step);
        held[i] = stored[k];
      } else if (step % 2 == 0) {
        set(i, step);
      } else {
        mover.await_reading(arrays[i].bytes.data());
        ASSERT_TRUE(std::all_of(arrays[i].as<double>(), arrays[i].as<double>() + count, [&](double v) {
          return v == held[i];
        })) << step;
      }
    }
    mover.finish();
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(arrays[i].as<double>()[count - 1], held[i]);
    std::int64_t bytes = 0;
    for (const stream::TierMover::Moved& moved : mover.take_moved()) bytes += moved.read + moved.written;
    EXPECT_EQ(bytes % (2 * group * element.bytes()), 0);
    EXPECT_GT(bytes, 0);
  }
}

}  // namespace
}  // namespace kasen
