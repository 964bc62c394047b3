// Plans whose arrays are stored on a disk and loaded again, where memory has no room for them (pass swap): results have
// the bits of memory, buffers stay within the limit, and what is moved is what was predicted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <random>

#include "libcore/data/disk_elements.h"
#include "libcore/ir/tiers.h"
#include "libcore/stream/simulated_tier.h"
#include "libopt/cost/footprint.h"
#include "libopt/sync/plan_notes.h"
#include "tests/opt/random_program.h"
#include "tests/opt/run_everywhere.h"
#include "tests/opt/swapped_programs.h"

namespace kasen {
namespace {

std::int64_t pool_of(const Module& plan, const std::vector<Part>& parts) {
  std::int64_t most = 0;
  for (const PartCount& part : predict_parts(plan, sizes_from_parts(plan, parts)))
    most = std::max(most, part.buffer_bytes);
  return most;
}

Module swapped(const Module& plan, const std::vector<Part>& parts, std::int64_t memory, PlanNotes* notes = nullptr) {
  static TrialLawChecker laws;  // remembers its answers
  OptimizeOptions options;
  options.sizes = [&](const Module& module) { return sizes_from_parts(module, parts); };
  options.swap_memory = memory;
  options.notes = notes;
  return optimize(plan, laws, options);
}

RunResult run_on_disk(const Module& plan, const std::vector<Part>& parts, KernelSet& kernels,
                      const RunOptions& given = {}) {
  const auto tier = stream::make_simulated_tier();
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  RunOptions options = given;
  options.spill = tier.get();
  return execute(plan, parts, *transport, kernels, options);
}

std::map<std::string, std::vector<Word>> outputs_of(const Module& plan, const RunResult& result,
                                                    const std::vector<Part>& parts) {
  std::map<std::string, std::vector<Word>> words;
  for (const Output& output : result.outputs) words[output.name] = testing::whole_words(plan, output, parts);
  return words;
}

bool same_bits(const std::map<std::string, std::vector<Word>>& a, const std::map<std::string, std::vector<Word>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::equal(x.second.begin(), x.second.end(), y.second.begin(), y.second.end(),
                                            [](const Word& v, const Word& w) { return v.i == w.i; });
  });
}

struct Moved {
  std::int64_t read = 0, written = 0;
};
Moved moved(const RunResult& result) {
  Moved sum;
  for (const OpCount& count : result.ops) {
    sum.read += count.disk_read_bytes;
    sum.written += count.disk_written_bytes;
  }
  return sum;
}

// The plan in so many bytes gives what the given plan does; a limit that nothing fits is refused. Returns what moved.
std::optional<Moved> expect_same(const Module& given, const std::vector<Part>& parts, std::int64_t memory,
                                 KernelSet& kernels) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const auto wanted = outputs_of(given, execute(given, parts, *transport, kernels, {}), parts);
  Module plan;
  try {
    plan = swapped(given, parts, memory);
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit) << error.what();
    return std::nullopt;
  }
  expect_valid(plan);
  EXPECT_LE(pool_of(plan, parts), memory);
  const std::vector<LiveSet> live = largest_live_sets(plan, sizes_from_parts(plan, parts));
  for (const LiveSet& set : live) EXPECT_LE(set.bytes, memory);
  EXPECT_EQ(print_module(parse_module(print_module(plan), "again.kir")), print_module(plan));
  EXPECT_EQ(print_module(swapped(plan, parts, memory)), print_module(plan));
  const RunResult result = run_on_disk(plan, parts, kernels);
  EXPECT_TRUE(same_bits(outputs_of(plan, result, parts), wanted)) << print_module(given) << print_module(plan);
  const Check check = check_against(plan, sizes_from_parts(plan, parts), make_run_report(plan, result));
  EXPECT_TRUE(check.mismatches.empty()) << check_text(plan, check) << print_module(plan);
  EXPECT_EQ(result.late_allocations, 0);
  return moved(result);
}

Module plan_of(const std::string& text, Strategy strategy) { return plan(compile(text), strategy, SyncMode::hybrid); }

std::vector<Part> parts_over(const Module& plan, int workers, std::int64_t size) {
  return testing::split(testing::random_data(plan, workers, size, 30, 5));
}

constexpr std::int64_t group = SpilledElements::group;

// Of a, b and c, two fit: a leaves once, and comes back once.
TEST(SwapPlans, MovesOneOfThree) {
  const Module made =
      plan_of("dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\noutput e = d * a",
              Strategy::none);
  for (const std::int64_t size : {2 * group, 2 * group + 1, group - 3}) {
    const std::vector<Part> parts = parts_over(made, 1, size);
    const std::int64_t three = pool_of(made, parts), one = storage_bytes(ElementType::of(Scalar::f64), size);
    EXPECT_EQ(three, 3 * one);
    const auto kernels = make_interpreter_kernels();
    const auto bytes = expect_same(made, parts, 2 * one, *kernels);
    ASSERT_TRUE(bytes);
    const std::int64_t groups = (size + group - 1) / group * group * 8;
    EXPECT_EQ(bytes->read, groups);
    EXPECT_EQ(bytes->written, groups);
    EXPECT_FALSE(expect_same(made, parts, one, *kernels)) << "an operator reads two";
    const auto none = expect_same(made, parts, three, *kernels);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->read + none->written, 0);
  }
}

// What the disk still has leaves without a copy.
TEST(SwapPlans, DropsWhatIsClean) {
  const Module made = plan_of(
      "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\ne = sin(d * a)\nf = cos(d)\n"
      "g = sqrt(e + f)\nh = tanh(f * e)\noutput o = g * h * a",
      Strategy::none);
  const std::vector<Part> parts = parts_over(made, 1, 2 * group);
  const auto kernels = make_interpreter_kernels();
  const std::int64_t one = storage_bytes(ElementType::of(Scalar::f64), 2 * group);
  const auto bytes = expect_same(made, parts, 3 * one, *kernels);
  ASSERT_TRUE(bytes);
  EXPECT_LE(bytes->written, 2 * one);
}

class SwapPlansOf : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(SwapPlansOf, HaveTheBitsOfMemory) {
  int fitted = 0;
  for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
    const Module made = plan_of(GetParam().text, strategy);
    for (const int workers : {1, 2}) {
      const std::vector<Part> parts = parts_over(made, workers, group + 100);
      const std::int64_t pool = pool_of(made, parts);
      const auto kernels = make_interpreter_kernels();
      for (const std::int64_t percent : {30, 50, 75, 100}) {
        SCOPED_TRACE(std::string(strategy_name(strategy)) + ", workers " + std::to_string(workers) + ", percent " +
                     std::to_string(percent));
        fitted += expect_same(made, parts, pool * percent / 100, *kernels) ? 1 : 0;
        if (HasFailure()) return;
      }
      for (const int threads : {1, 3}) {
        if (strategy != Strategy::greedy || workers != 2) continue;  // kernels take long to make
        const auto generated = testing::make_kernels({.threads = threads});
        (void)expect_same(made, parts, pool * 3 / 4, *generated);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GE(fitted, 5);
}

INSTANTIATE_TEST_SUITE_P(All, SwapPlansOf, ::testing::ValuesIn(testing::swapped_programs), [](const auto& named) {
  std::string word = named.param.name;
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
});

// Arrays and sums of one another, in any order: many live at once. Some are carried by a loop.
class RandomArrays {
 public:
  explicit RandomArrays(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string made = "dim N\ninput x : f64[N]\nz0 = x * 0.5\nz1 = tanh(x)\n";
    arrays_ = {"x", "z0", "z1"};
    scalars_ = {"2.0"};
    add(made, "", 8);
    const std::vector<std::string> outside = arrays_, sums = scalars_;
    made += "for i in 0..3 {\n";
    add(made, "  ", 10);
    made += "  z0 = tanh(z0 * 0.5 + " + arrays_.back() + " * 0.1)\n  z1 = z1 * 0.5 + z0 * 0.001\n}\n";
    arrays_ = outside;
    scalars_ = sums;
    add(made, "", 6);
    made += "output o = " + arrays_.back() + ", p = sum(z0)";
    for (std::size_t i = 1; i < scalars_.size(); ++i) made += fmt::format(", q{} = {} + 1", i, scalars_[i]);
    return made + "\n";
  }

 private:
  void add(std::string& made, const std::string& indent, int statements) {
    for (int i = 0; i < statements; ++i) {
      const std::string name = fmt::format("v{}", number_++);
      made += indent + name + " = ";
      switch (random_() % 8) {
        case 0:
        case 1:
          made += fmt::format("tanh(sum({} * {}) * 0.01)\n", any(arrays_), any(scalars_));
          scalars_.push_back(name);
          break;
        case 2:
          made += fmt::format("sin({} + {})\n", any(arrays_), any(scalars_));
          arrays_.push_back(name);
          break;
        case 3:
          add_other_type(made, name);
          break;
        default:
          made += fmt::format("sqrt({} * {} + 1.5)\n", any(arrays_), any(arrays_));
          arrays_.push_back(name);
      }
    }
  }

  // An array of another type, and how it is read as f64.
  void add_other_type(std::string& made, const std::string& name) {
    struct Other {
      const char *of, *read;
    };
    constexpr std::array<Other, 6> others{{{"f32(x)", "f64({})"},
                                           {"i64(x * 8)", "f64({})"},
                                           {"i32(x * 8)", "f64({})"},
                                           {"x > 0.5", "f64({})"},
                                           {"(x, x > 0.5)", "{}.0"},
                                           {"[x, x * x]", "({})[1]"}}};
    const Other& other = others.at(random_() % others.size());
    made += fmt::format("map(x -> {}, {})\n", other.of, any(arrays_));
    arrays_.push_back(fmt::format(fmt::runtime(other.read), name));
  }

  [[nodiscard]] const std::string& any(const std::vector<std::string>& names) {
    return names[random_() % names.size()];
  }

  std::mt19937_64 random_;
  std::vector<std::string> arrays_, scalars_;
  int number_ = 0;
};

void expect_random_programs(std::uint64_t first, std::uint64_t last, int least) {
  int fitted = 0;
  const auto kernels = make_interpreter_kernels();
  for (std::uint64_t seed = first; seed <= last && !::testing::Test::HasFailure(); ++seed) {
    const std::string text = RandomArrays(seed).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    constexpr std::array modes{SyncMode::lazy, SyncMode::eager, SyncMode::hybrid};
    // Plans in which nothing is fused have the most arrays.
    const Strategy strategy = seed % 2 == 0 ? Strategy::none : plan_strategies[seed / 2 % std::size(plan_strategies)];
    const Module made = plan(compile(text), strategy, modes.at(seed % modes.size()));
    const std::vector<Part> parts = parts_over(made, 1 + static_cast<int>(seed % 3), 50);
    const std::int64_t pool = pool_of(made, parts);
    for (const std::int64_t percent : {45, 60, 80}) {
      fitted += expect_same(made, parts, pool * percent / 100, *kernels) ? 1 : 0;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(fitted, least);
}

TEST(SwapPlans, OfRandomProgramsHaveTheBitsOfMemory) { expect_random_programs(1, 60, 60); }
TEST(LongSwapPlans, OfRandomProgramsHaveTheBitsOfMemory) { expect_random_programs(1000, 2000, 1000); }

// Where one array is summed before the next one is made, none has to leave.
TEST(SwapPlans, PutOperatorsIntoAnotherOrder) {
  const Module made = plan_of(
      "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = cos(x)\ns = sum(a)\nt = sum(b * s)\n"
      "u = sum(c * t)\nv = sum(d)\nfor i in 0..3 {\n  p = x * s\n  q = x * t\n  r = x * u\n  s = tanh(sum(p))\n"
      "  t = tanh(sum(q))\n  u = tanh(sum(r) + u)\n}\noutput s, t, u, v",
      Strategy::none);
  const std::vector<Part> parts = parts_over(made, 1, group);
  const std::int64_t one = storage_bytes(ElementType::of(Scalar::f64), group);
  EXPECT_EQ(pool_of(made, parts), 4 * one);
  const auto kernels = make_interpreter_kernels();
  const auto bytes = expect_same(made, parts, 2 * one, *kernels);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->read + bytes->written, 0);
  PlanNotes notes;
  EXPECT_FALSE(uses_disk(swapped(made, parts, 2 * one, &notes)));
  ASSERT_EQ(notes.swaps.size(), 2);
  EXPECT_NE(notes.swaps[0].find("an iteration of the loop at line 11 are in another order"), std::string::npos)
      << notes.swaps[0];
}

TEST(SwapPlans, TellWhy) {
  const Module made =
      plan_of("dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\noutput e = d * a",
              Strategy::none);
  const std::vector<Part> parts = parts_over(made, 1, group);
  PlanNotes notes;
  (void)swapped(made, parts, 2 * storage_bytes(ElementType::of(Scalar::f64), group), &notes);
  ASSERT_EQ(notes.swaps.size(), 3);
  EXPECT_NE(notes.swaps[1].find("store %a: 65536 bytes"), std::string::npos) << notes.swaps[1];
  EXPECT_NE(notes.swaps[1].find("%c needs the room"), std::string::npos) << notes.swaps[1];
  EXPECT_NE(notes.swaps[2].find("load %a"), std::string::npos) << notes.swaps[2];
  EXPECT_NE(notes.swaps[2].find("%e reads it"), std::string::npos) << notes.swaps[2];
}

TEST(SwapPlans, AreRefusedWithoutADisk) {
  const Module made =
      plan_of("dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\noutput e = d * a",
              Strategy::none);
  const std::vector<Part> parts = parts_over(made, 1, group);
  const std::int64_t one = storage_bytes(ElementType::of(Scalar::f64), group);
  const Module plan = swapped(made, parts, 2 * one);
  EXPECT_THROW((void)testing::run_simulated(plan, parts), UserError);
  const auto kernels = make_interpreter_kernels();
  const std::vector<Part> larger = parts_over(made, 1, group + 1);
  try {
    (void)run_on_disk(plan, larger, *kernels);
    FAIL() << "arrays are larger than the plan allows";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit) << error.what();
  }
}

// A disk that fails ends the run with its message.
TEST(SwapPlans, PassFaultsOn) {
  const Module made =
      plan_of("dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\noutput e = d * a",
              Strategy::none);
  const std::vector<Part> parts = parts_over(made, 1, group);
  const Module plan = swapped(made, parts, 2 * storage_bytes(ElementType::of(Scalar::f64), group));
  for (const int last : {0, 1}) {
    std::atomic<int> events = 0;
    const auto tier = stream::make_simulated_tier([&](std::int64_t) {
      if (events++ == last) fail(ExitStatus::io, "the disk is full");
    });
    RunOptions options;
    options.spill = tier.get();
    try {
      (void)testing::run_simulated(plan, parts, options);
      FAIL() << "a fault was lost";
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::io);
    }
  }
}

// Random programs of many vectors, which sums keep apart.
class ManyVectors {
 public:
  explicit ManyVectors(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ = "dim N\ninput G : null[N, N], x : f64[N]\ns = 0.25\n";
    for (int i = 0; i < count; ++i) line(0, fmt::format("v{} = tanh(x * {}.5)", i, i));
    block(0, 12);
    text_ += "output v0, s";
    for (int i = 1; i < count; ++i) text_ += fmt::format(", q{0} = sum(v{0})", i);
    return text_ + '\n';
  }

 private:
  static constexpr int count = 14;
  int pick(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }
  std::string vector() { return "v" + std::to_string(pick(count)); }
  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<size_t>(2 * depth), ' ') + text + '\n';
  }
  void block(int depth, int statements) {
    for (int i = 0; i < statements; ++i) statement(depth);
  }
  void statement(int depth) {
    const std::string a = vector(), b = vector(), c = vector();
    switch (pick(depth < 1 ? 9 : 6)) {
      case 0:
      case 1:
        return line(depth, fmt::format("{} = 0.5 * {} + {} * s", a, b, c));
      case 2:
        return line(depth, fmt::format("{} = tanh({} * {})", a, b, c));
      case 3:
        return line(depth, fmt::format("{} = tanh(0.2 * (G' @ {}))", a, b));
      case 4:
      case 5:
        return line(depth, fmt::format("s = tanh(sum({} * {}) / 16)", a, b));
      case 6:
      case 7:
        line(depth, fmt::format("for i{} in 0..3 {{", depth));
        break;
      default:
        line(depth, "if s > 0.1 {");
    }
    block(depth + 1, 2 + pick(3));
    line(depth, "}");
  }

  std::mt19937_64 random_;
  std::string text_;
};

std::uint64_t asked_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// How many plans move something. KASEN_SEED=n runs one program.
template <class Program>
int check_random(std::uint64_t count, const Program& program) {
  const std::uint64_t one = asked_number("KASEN_SEED", 0);
  const auto kernels = make_interpreter_kernels();
  int moving = 0;
  for (std::uint64_t seed = one > 0 ? one : 1; seed <= (one > 0 ? one : count); ++seed) {
    SCOPED_TRACE(seed);
    const Module made = plan_of(program(seed), seed % 2 == 0 ? Strategy::greedy : Strategy::none);
    const std::vector<Part> parts = parts_over(made, static_cast<int>(seed % 3) + 1, 50);
    const std::int64_t pool = pool_of(made, parts);
    for (const std::int64_t percent : {50, 70, 90}) {
      SCOPED_TRACE(percent);
      const auto bytes = expect_same(made, parts, pool * percent / 100, *kernels);
      moving += bytes && bytes->read > 0 ? 1 : 0;
      if (::testing::Test::HasFailure()) return moving;
    }
  }
  return one > 0 ? std::numeric_limits<int>::max() : moving;
}

TEST(SwapPlans, OfRandomPrograms) {
  EXPECT_GE(check_random(8, [](std::uint64_t seed) { return ManyVectors(seed).write(); }), 5);
}

TEST(SwapPlans, OfRandomProgramsWithLists) {
  (void)check_random(4, [](std::uint64_t seed) { return testing::random_program(seed); });
}

TEST(LongSwapPlans, OfRandomPrograms) {
  EXPECT_GE(check_random(200, [](std::uint64_t seed) { return ManyVectors(seed + 1000).write(); }), 100);
}

}  // namespace
}  // namespace kasen
