// A run that goes on from any border of its outermost loops, or behind an operator outside of them, ends with the bits
// of one that was never disturbed, in any plan, over any mesh, with either kernels, and with another order of masters.
#include "libcore/run/border.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "libcore/data/mirrored.h"
#include "libcore/ir/tiers.h"
#include "libcore/stream/simulated_tier.h"
#include "libopt/cost/footprint.h"
#include "tests/core/mesh_module.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/likely_programs.h"
#include "tests/opt/random_program.h"
#include "tests/opt/run_everywhere.h"
#include "tests/opt/swapped_programs.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

// What one process of any number would keep of a border: by value, array and worker.
struct Kept {
  BorderPlace place;
  std::map<std::tuple<ValueId, std::int64_t, int>, Array> arrays;
};

// How often each way of holding a value was met.
struct Met {
  int borders = 0, behind = 0, copies = 0, contributions = 0, lists = 0, views = 0, shareds = 0, on_disk = 0;
};

class Runner {
 public:
  Runner(const Module& module, const std::vector<Part>& parts, bool generated)
      : module_(module), parts_(parts), generated_(generated) {}

  RunResult run(RunOptions options) const {
    const auto transport = make_simulated_transport(static_cast<int>(parts_.size()));
    const auto tier = stream::make_simulated_tier();
    options.spill = tier.get();
    if (!generated_) return execute(module_, parts_, *transport, *make_interpreter_kernels(), options);
    return execute(module_, parts_, *transport, *testing::make_kernels({.threads = 2}), options);
  }

  RunResult undisturbed(std::vector<Kept>& borders, Met& met) const {
    RunOptions options;
    options.on_border = [&](const Border& border) { borders.push_back(keep(border, met)); };
    return run(options);
  }

  RunResult from(const Kept& kept, WithinGroups masters) const {
    ResumePoint point{kept.place, [&](const HeldValue& held, std::int64_t array, int part, std::int64_t count) {
                        if (names_layouts(module_) && !module_.type(held.value).state.is_pre())
                          return joined(kept, held, array, part, count);
                        const auto found = kept.arrays.find({held.value, array, held.shared ? 0 : part});
                        if (found == kept.arrays.end()) return Array(module_.type(held.value).element, 0);
                        EXPECT_EQ(found->second.count, count);
                        return copy_of(found->second);
                      }};
    RunOptions options;
    options.masters = masters;
    options.resume = &point;
    return run(options);
  }

 private:
  // What a worker needs, from all that saved some of it.
  Array joined(const Kept& kept, const HeldValue& held, std::int64_t array, int worker, std::int64_t count) const {
    const Type& type = module_.type(held.value);
    const Elements wanted = needed_elements(module_, type, worker);
    EXPECT_EQ(wanted.count(), count);
    Array made(type.element, count);
    std::int64_t found = 0;
    for (int saver = 0; saver < static_cast<int>(parts_.size()); ++saver) {
      const auto piece = kept.arrays.find({held.value, array, saver});
      if (piece == kept.arrays.end()) continue;
      const Elements own = saved_elements(module_, type, saver), common = intersection(own, wanted);
      if (common.count() == 0) continue;
      const PlaceList from = places_in(common, own), to = places_in(common, wanted);
      const Array whole = copy_of(piece->second);
      copy_some(type.element,
                {{const_cast<std::byte*>(whole.bytes.data()), whole.count}, &from, {made.bytes.data(), count}, &to}, 0,
                from.size());
      found += common.count();
    }
    EXPECT_EQ(found, count);
    return made;
  }

  static Array copy_of(const Array& array) {
    Array copy(array.element, array.count);
    std::copy_n(array.bytes.data(), array.bytes.size(), copy.bytes.data());
    return copy;
  }

  Kept keep(const Border& border, Met& met) const {
    const IdMap<ValueId, bool> on_disk = values_on_disk(module_);
    Kept kept{border.place(), {}};
    ++(kept.place.behind ? met.behind : met.borders);
    met.views += static_cast<int>(border.place().looks.size());
    for (const HeldValue& held : border.values()) {
      const Type& type = module_.type(held.value);
      met.shareds += held.shared ? 1 : 0;
      met.contributions += held.slaves ? 1 : 0;
      met.copies += !held.shared && type.state.is_cons() && !type.state.slaves.empty() ? 1 : 0;
      met.lists += held.arrays > 1 ? 1 : 0;
      met.on_disk += on_disk[held.value] ? 1 : 0;
      for (std::int64_t array = 0; array < held.arrays; ++array) {
        for (int p = 0; p < static_cast<int>(parts_.size()); ++p) {
          if (border.count(held, p) > 0) kept.arrays[{held.value, array, p}] = border.read(held, array, p);
        }
      }
    }
    return kept;
  }

  const Module& module_;
  const std::vector<Part>& parts_;
  bool generated_;
};

void expect_undisturbed(const Module& module, const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t o = 0; o < a.outputs.size(); ++o) {
    if (names_layouts(module)) {  // only what a worker owns is defined
      const Array x = testing::joined_from_mesh(module, a.outputs[o]),
                  y = testing::joined_from_mesh(module, b.outputs[o]);
      EXPECT_TRUE(std::equal(x.bytes.data(), x.bytes.data() + x.bytes.size(), y.bytes.data())) << a.outputs[o].name;
      continue;
    }
    for (size_t p = 0; p < a.outputs[o].parts.size(); ++p) {
      const Array &x = a.outputs[o].parts[p].data, &y = b.outputs[o].parts[p].data;
      ASSERT_EQ(x.count, y.count);
      EXPECT_TRUE(std::equal(x.bytes.data(), x.bytes.data() + x.bytes.size(), y.bytes.data())) << a.outputs[o].name;
    }
  }
}

void go_on_everywhere(const Module& module, const std::vector<Part>& parts, bool generated, Met& met) {
  const Runner runner(module, parts, generated);
  std::vector<Kept> borders;
  const RunResult whole = runner.undisturbed(borders, met);
  int behind = 0;
  for (const Kept& kept : borders) {
    // There are many of these; each run goes on from some.
    if (kept.place.behind && (met.behind + ++behind) % 4 != 0) continue;
    SCOPED_TRACE(::testing::Message() << "operator " << kept.place.op << ", behind it " << kept.place.behind
                                      << ", turn " << kept.place.iterations);
    const auto masters = kept.place.iterations % 2 == 0 ? WithinGroups::ordered : WithinGroups::by_length;
    const RunResult rest = runner.from(kept, masters);
    expect_undisturbed(module, whole, rest);
    expect_counts(module, parts, rest, generated ? "generated" : "interpreter");
    if (::testing::Test::HasFailure()) return;
  }
}

void go_on_in_all_plans(const Module& program, std::uint64_t seed, Met& met) {
  for (const int workers : {1, 3}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 17, 40, seed));
    for (const Strategy strategy : {Strategy::none, Strategy::greedy, Strategy::fuse_all}) {
      for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {
        SCOPED_TRACE(::testing::Message()
                     << workers << " workers, " << strategy_name(strategy) << ", sync " << static_cast<int>(sync));
        const bool generated = strategy == Strategy::greedy && sync == SyncMode::hybrid && workers == 3;
        go_on_everywhere(plan(program, strategy, sync, true, seed % 2 == 1), parts, generated, met);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// With less memory than its buffers take, where that is enough.
void go_on_with_less_memory(const Module& program, std::uint64_t seed, Met& met) {
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 37, 40, seed));
  const Module made = plan(program, seed % 2 == 0 ? Strategy::none : Strategy::greedy, SyncMode::hybrid);
  std::int64_t pool = 0;
  for (const PartCount& part : predict_parts(made, sizes_from_parts(made, parts)))
    pool = std::max(pool, part.buffer_bytes);
  TrialLawChecker laws;
  OptimizeOptions options;
  options.sizes = [&](const Module& module) { return sizes_from_parts(module, parts); };
  for (const std::int64_t percent : {50, 75}) {
    options.swap_memory = pool * percent / 100;
    Module less;
    try {
      less = optimize(made, laws, options);
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::limit) << error.what();
      continue;
    }
    SCOPED_TRACE(::testing::Message() << percent << " % of " << pool << " bytes\n" << print_module(less));
    if (uses_disk(less)) go_on_everywhere(less, parts, seed % 4 == 1, met);
  }
}

TEST(Border, PlansThatStoreArraysGoOn) {
  Met met;
  std::uint64_t seed = 0;
  for (const NamedProgram& program : testing::swapped_programs) {
    SCOPED_TRACE(program.name);
    for (int strategy = 0; strategy < 2 && !::testing::Test::HasFailure(); ++strategy)
      go_on_with_less_memory(compile(program.text), seed++, met);
  }
  EXPECT_GT(met.on_disk, 100);
}

Met random_programs_go_on(std::uint64_t first, std::uint64_t last) {
  Met met;
  for (std::uint64_t seed = first; seed <= last && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    go_on_in_all_plans(compile(testing::random_program(seed)), seed, met);
    go_on_in_all_plans(testing::RandomProgram(seed).make(6), seed, met);
  }
  return met;
}

TEST(Border, RandomProgramsGoOnFromEveryTurn) {
  const Met met = random_programs_go_on(1, 5);
  EXPECT_GT(met.borders, 100);
  EXPECT_GT(met.behind, 200);
  EXPECT_GT(met.shareds, 20);
}

TEST(LongBorder, RandomProgramsGoOnFromEveryTurn) {
  const Met met = random_programs_go_on(1, 100);
  EXPECT_GT(met.borders, 2000);
  EXPECT_GT(met.shareds, 400);
}

Met random_modules_go_on(std::uint64_t first, std::uint64_t last) {
  Met met;
  for (std::uint64_t seed = first; seed <= last && !::testing::Test::HasFailure(); ++seed) {
    testing::RandomModule random(seed);
    random.make_program(false);  // no checkpoint has a size that the run found
    const Module made = parse_module(print_module(random.module()), "random.kir");
    TrialLawChecker laws;
    const Module module = seed % 2 == 0 ? run_passes(made, laws, {}, {"dead-code", "fuse-vector", "buffers"}) : made;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << print_module(module));
    const std::vector<Part> parts = testing::split_over_mesh(module, testing::whole_of(random).arrays);
    go_on_everywhere(module, parts, seed % 10 == 0, met);
  }
  return met;
}

TEST(Border, RandomModulesOverMeshesGoOnBehindEveryOperator) {
  const Met met = random_modules_go_on(1, 60);
  EXPECT_GT(met.behind, 300);
  EXPECT_GT(met.copies, 50);
  EXPECT_GT(met.contributions, 50);
}

TEST(LongBorder, RandomModulesOverMeshesGoOnBehindEveryOperator) {
  const Met met = random_modules_go_on(1000, 2500);
  EXPECT_GT(met.behind, 5000);
}

TEST(Border, LikelyProgramsGoOnFromEveryTurn) {
  Met met;
  for (const testing::LikelyProgram& program : testing::likely_programs()) {
    SCOPED_TRACE(program.name);
    for (const char* word : {"", "likely"}) go_on_in_all_plans(compile(testing::with_word(program.text, word)), 7, met);
  }
  EXPECT_GT(met.borders, 100);
}

// Each way of holding a value at least once.
TEST(Border, EveryStateIsHeld) {
  struct Case {
    const char* name;
    const char* text;
    int Met::*wanted;
  };
  const std::vector<Case> cases{
      {"two loops, the second in a branch",
       "dim N\ninput G : f64[N, N], x : f64[N]\nv = x\nfor i in 0..3 {\n  v = v / 3 + G' @ v\n}\ns = sum(v)\nw = 2 * "
       "v\n"
       "if s > 0 {\n  for k in reversed (1..4) {\n    w = w / f64(k) + s * x\n  }\n} else {\n  w = w - v\n}\n"
       "output v, w\n",
       &Met::shareds},
      {"slaves that copy",
       "dim N\ninput G : f64[N, N], x : f64[N], y : f64[N]\nv = x * y\nu = y\n"
       "for i in 0..4 {\n  u = G' @ v + u / 2\n}\noutput u\n",
       &Met::copies},
      {"lists and what a view shows",
       "dim N\ninput x : f64[N], y : f64[N]\nlist L[3] : f64[N] = 1\npush(L, x)\na = L[2]\nv = x\n"
       "for i in 0..5 {\n  v = v / 2 + a * L[i % 3]\n}\noutput v, b = L[0]\n",
       &Met::views},
      {"lists that turn",
       "dim N\ninput x : f64[N]\nlist L[3] : f64[N] = 1\nv = x\n"
       "for i in 0..5 {\n  v = v / 2 + L[1]\n  push(L, v)\n}\noutput v, b = L[0], c = L[2]\n",
       &Met::lists},
      {"contributions that are combined behind the loop",
       "dim N\ninput G : f64[N, N], x : f64[N]\nu = G' @ x\nv = x\nfor i in 0..4 {\n  v = v / 2\n}\n"
       "output w = u + v\n",
       &Met::contributions},
  };
  for (const Case& made : cases) {
    SCOPED_TRACE(made.name);
    Met met;
    go_on_in_all_plans(compile(made.text), 3, met);
    EXPECT_GT(met.*made.wanted, 0);
  }
}

TEST(Border, ExamplesGoOn) {
  Met met;
  for (const char* name : {"pagerank.ks", "hits.ks", "lbfgs.ks", "kmeans.ks", "components.ks", "sssp.ks", "cg.ks"}) {
    SCOPED_TRACE(name);
    const Module program = example(name);
    const std::vector<Part> parts = testing::split(testing::random_data(program, 3, 30, 120, 5));
    for (const bool epilogue : {false, true})
      go_on_everywhere(plan(program, Strategy::greedy, SyncMode::hybrid, true, epilogue), parts, true, met);
  }
  EXPECT_GT(met.borders, 30);
}

TEST(Border, WhatIsNoBorderOfThePlanIsRefused) {
  const Module program = compile("dim N\ninput x : f64[N]\nv = x\nfor i in 0..3 {\n  v = v / 2\n}\noutput v\n");
  const Module made = plan(program, Strategy::greedy, SyncMode::hybrid);
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 9, 9, 1));
  const Runner runner(made, parts, false);
  Met met;
  std::vector<Kept> borders;
  (void)runner.undisturbed(borders, met);
  std::erase_if(borders, [](const Kept& kept) { return kept.place.behind; });
  ASSERT_EQ(borders.size(), 3U);
  const auto status = [&](auto change) {
    Kept kept{borders[1].place, {}};
    change(kept.place);
    try {
      (void)runner.from(kept, WithinGroups::ordered);
    } catch (const UserError& error) {
      return error.status();
    }
    return ExitStatus::done;
  };
  EXPECT_EQ(status([](BorderPlace& place) { place.op = 0; }), ExitStatus::bad_input);
  EXPECT_EQ(status([](BorderPlace& place) { place.op = 1000; }), ExitStatus::bad_input);
  const auto behind = [](int op) {
    return [op](BorderPlace& place) {
      place.op = op;
      place.behind = true;
    };
  };
  for (const int op : {-1, 0, 1000}) EXPECT_EQ(status(behind(op)), ExitStatus::bad_input) << op;
  EXPECT_EQ(status([](BorderPlace& place) { place.iterations = -1; }), ExitStatus::bad_input);
  EXPECT_EQ(status([](BorderPlace& place) { place.iterations = 4; }), ExitStatus::bad_input);
  EXPECT_EQ(status([](BorderPlace& place) { place.looks = {0}; }), ExitStatus::bad_input);
}

}  // namespace
}  // namespace kasen
