// Choosing by cost: every unit's way of placing transitions, and plans that are never dearer than the unfused one.
#include "libopt/time/price.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "libopt/sync/plan_notes.h"
#include "libopt/sync/units.h"
#include "libopt/time/times.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

constexpr SyncMode all_modes[] = {SyncMode::hybrid, SyncMode::eager, SyncMode::lazy, SyncMode::automatic};

// How many random programs: KASEN_PROGRAMS asks for more.
std::uint64_t programs(std::uint64_t usual) {
  const char* many = std::getenv("KASEN_PROGRAMS");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : usual;
}

struct Chosen {
  Module plan;
  PlanNotes notes;
};

Chosen choose(const Module& program, SyncMode sync, const std::string& sizes = {}, const MachineProfile& machine = {},
              Strategy strategy = Strategy::greedy) {
  static TrialLawChecker laws;
  Chosen chosen;
  OptimizeOptions options;
  options.sync = sync;
  options.strategy = strategy;
  options.machine = machine;
  options.notes = &chosen.notes;
  if (!sizes.empty()) options.sizes = [&](const Module& plan) { return known_sizes(plan, sizes); };
  chosen.plan = optimize(program, laws, options);
  return chosen;
}

PlanPrice price(const Module& plan, const std::string& sizes = {}, const MachineProfile& machine = {}) {
  Pricing pricing(
      sizes.empty() ? std::function<Sizes(const Module&)>() : [&](const Module& m) { return known_sizes(m, sizes); },
      machine);
  return pricing(plan);
}

// Of a plan that is kept, and of the unfused one beside it: neither column may tell that fusing made it dearer.
void expect_not_dearer(const Module& program, const std::string& sizes, const std::string& name,
                       const MachineProfile& machine = {}) {
  for (const SyncMode sync : all_modes) {
    const SyncMode plain = sync == SyncMode::automatic ? SyncMode::hybrid : sync;
    const PlanPrice fused = price(choose(program, sync, sizes, machine).plan, sizes, machine);
    const PlanPrice unfused = price(choose(program, plain, sizes, machine, Strategy::none).plan, sizes, machine);
    EXPECT_LE(fused.model.seconds, unfused.model.seconds * (1 + 1e-9)) << name << " " << static_cast<int>(sync);
    EXPECT_LE(fused.actual.seconds, unfused.actual.seconds * (1 + 1e-9)) << name << " " << static_cast<int>(sync);
  }
}

TEST(Price, FusedExamplesAreNeverDearer) {
  int examples = 0;
  for (const auto& file : std::filesystem::directory_iterator(KASEN_ROOT "/examples")) {
    if (file.path().extension() != ".ks") continue;
    const std::string name = file.path().filename().string();
    expect_not_dearer(example(name), "", name);
    const bool workers = example(name).find_dim("P") == no_dim;  // else P is a dimension's name
    if (workers) expect_not_dearer(example(name), "P=1", name);
    ++examples;
  }
  EXPECT_GE(examples, 10);
}

// Whatever computing costs beside bytes, and whether arrays stay in caches.
TEST(Price, NeverDearerOnAnotherMachine) {
  MachineProfile machine;
  for (double& seconds : machine.operation) seconds *= 100;
  machine.cache_bytes = 1e7;
  machine.far_entry = 20e-9;
  for (const char* name : {"pagerank.ks", "blackscholes.ks", "kmeans.ks", "logistic.ks"}) {
    expect_not_dearer(example(name), "", name, machine);
  }
  for (std::uint64_t seed = 1; seed <= programs(1); ++seed) {
    expect_not_dearer(compile(testing::random_program(seed)), "", "seed " + std::to_string(seed), machine);
  }
}

TEST(Price, FusedRandomProgramsAreNeverDearer) {
  for (std::uint64_t seed = 1; seed <= programs(4); ++seed) {
    const Module program = compile(testing::random_program(seed));
    for (const char* sizes : {"", "N=100,S=3,nnz(G)=10,nnz(H)=100000,P=2", "N=1000,S=9000,nnz(G)=5,nnz(H)=5,P=64"}) {
      expect_not_dearer(program, sizes, "seed " + std::to_string(seed) + " " + sizes);
    }
  }
}

// The price is the time that `kasen measure --machine` tells, without the exchanges that other work hides, and where
// products read their vectors from memory in no time.
TEST(Price, IsThePredictedTime) {
  MachineProfile machine;
  machine.near_entry = machine.far_entry = 0;
  machine.cache_bytes = 1e6;
  for (const char* name : {"pagerank.ks", "blackscholes.ks", "kmeans.ks"}) {
    const char* text = "N=1000000,S=500000,nnz=8000000,P=4";
    const Module plan = choose(example(name), SyncMode::hybrid).plan;
    const Sizes sizes = known_sizes(plan, text);
    const auto time = predicted_times(plan, &sizes, machine).program;
    ASSERT_TRUE(time.has_value()) << name;
    const double in_all = time->sum() + time->hidden;
    EXPECT_NEAR(in_all, price(plan, text, machine).actual.seconds, 1e-9 * in_all) << name;
  }
}

// A loop that is expected to run no turn: what is computed for the next turn is computed in vain.
TEST(Price, MovesThatDoNotPayAreGivenUp) {
  const char* text = R"(
dim N
input G : null[N, N], x : f64[N]
a = x / 2
b = x
go = true
while go likely expect TURNS {
  c = G @ (a / 3)
  b = c + a
  a = b * 2
  go = sum(a) > 1
}
output a
)";
  const auto with = [&](const std::string& iterations) {
    std::string program = text;
    program.replace(program.find("TURNS"), 5, iterations);
    return choose(compile(program), SyncMode::hybrid, "N=1000,S=100,nnz=10000,P=4");
  };
  EXPECT_EQ(with("30").notes.given_up, GivenUp::nothing);
  EXPECT_EQ(with("0").notes.given_up, GivenUp::moves);
}

// x is summed as it comes from the product: lazily nothing is sent but the sum. y goes into a product again.
constexpr const char* two_regions = R"(
dim N, M
input G : f64[N, N], H : f64[M, M]
input x : f64[N], y : f64[M]
a = G' @ x
b = 2 * a
s = sum(b)
c = H' @ y
d = c * c
e = H' @ d
t = sum(e * e)
output s, t
)";

TEST(SyncByCost, EachRegionGetsItsOwn) {
  const Chosen chosen = choose(compile(two_regions), SyncMode::automatic);
  const auto price_of = [&](SyncMode sync) { return price(choose(compile(two_regions), sync).plan).actual.seconds; };
  const double cost = price(chosen.plan).actual.seconds;
  for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) EXPECT_LE(cost, price_of(sync));
  EXPECT_LT(cost, price_of(SyncMode::hybrid));  // which gathers a
  bool lazy = false, other = false;
  for (const SyncNote& note : chosen.notes.sync) {
    lazy = lazy || note.chosen == SyncMode::lazy;
    other = other || note.chosen != SyncMode::lazy;
  }
  EXPECT_TRUE(lazy);
  EXPECT_TRUE(other);
}

TEST(SyncByCost, TheChosenWayOfEachUnitIsItsCheapest) {
  for (std::uint64_t seed = 1; seed <= programs(5); ++seed) {
    const Chosen chosen = choose(compile(testing::random_program(seed)), SyncMode::automatic);
    for (const SyncNote& note : chosen.notes.sync) {
      ASSERT_EQ(note.prices.size(), 3U);
      double own = 0, least = INFINITY;
      for (const auto& [mode, made] : note.prices) {
        if (mode == note.chosen) own = made.seconds;
        least = std::min(least, made.seconds);
      }
      EXPECT_LE(own, least * (1 + 1e-9)) << "seed " << seed;
    }
  }
}

TEST(SyncByCost, NeverDearerThanAnyUniformWay) {
  for (std::uint64_t seed = 1; seed <= programs(5); ++seed) {
    const Module program = compile(testing::random_program(seed));
    const Chosen chosen = choose(program, SyncMode::automatic);
    if (chosen.notes.given_up != GivenUp::nothing) continue;
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
      const Chosen uniform = choose(program, sync);
      if (uniform.notes.given_up != GivenUp::nothing) continue;
      EXPECT_LE(price(chosen.plan).actual.seconds, price(uniform.plan).actual.seconds * (1 + 1e-9))
          << "seed " << seed << " " << static_cast<int>(sync);
    }
  }
}

// Once eagerly for two products, or after each of them: what is cheaper depends on sizes and on the machine.
TEST(SyncByCost, SizesAndTheMachineDecide) {
  const char* text = R"(
dim N
input G : f64[N, N]
input x : f64[N]
a = G' @ x
b = 0.5 * a
c = b * 2 + x
s = sum(abs(c))
output s, c
)";
  const Module program = compile(text);
  MachineProfile slow_network;
  slow_network.network_bandwidth = 1e6;
  MachineProfile fast_network;
  fast_network.network_bandwidth = 1e12;
  fast_network.network_latency = 1e-12;
  for (const char* sizes : {"N=1000000,S=1000,nnz=1000000,P=4", "N=1000,S=1000000,nnz=1000000,P=64"}) {
    for (const MachineProfile& machine : {slow_network, fast_network, MachineProfile{}}) {
      const double cost =
          price(choose(program, SyncMode::automatic, sizes, machine).plan, sizes, machine).actual.seconds;
      for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
        EXPECT_LE(cost, price(choose(program, sync, sizes, machine).plan, sizes, machine).actual.seconds * (1 + 1e-9));
      }
    }
  }
}

// Each product ends a unit. Where all ways of all units were priced, these would be hundreds of plans.
TEST(SyncByCost, OfALargeProgramSomeWaysArePriced) {
  std::string text = "dim N\ninput G : f64[N, N]\ninput x0 : f64[N]\n";
  for (int i = 1; i <= 200; ++i) {
    text += "t" + std::to_string(i) + " = G' @ x" + std::to_string(i - 1) + "\n";
    text += "x" + std::to_string(i) + " = tanh(t" + std::to_string(i) + ")\n";
    text += "s" + std::to_string(i) + " = sum(x" + std::to_string(i) + " * t" + std::to_string(i) + ")\n";
    text += "output s" + std::to_string(i) + "\n";
  }
  const Module program = compile(text);
  const Chosen chosen = choose(program, SyncMode::automatic);
  EXPECT_TRUE(chosen.notes.sync_cut);
  EXPECT_GE(chosen.notes.sync_candidates, 3);
  EXPECT_LT(chosen.notes.sync_candidates, 60);
  for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
    EXPECT_LE(price(chosen.plan).actual.seconds, price(choose(program, sync).plan).actual.seconds * (1 + 1e-9));
  }
  EXPECT_FALSE(choose(example("pagerank.ks"), SyncMode::automatic).notes.sync_cut);
}

TEST(SyncByCost, DefaultsAreToldWhereTheyDecide) {
  const Module program = example("pagerank.ks");
  EXPECT_FALSE(choose(program, SyncMode::automatic).notes.defaults.empty());
  EXPECT_TRUE(choose(program, SyncMode::automatic, "N=1000,S=500,nnz=9000,P=4").notes.defaults.empty());
  EXPECT_TRUE(choose(program, SyncMode::hybrid).notes.defaults.empty());
}

TEST(SyncByCost, TheSamePlanEachTime) {
  const Module program = example("lbfgs.ks");
  EXPECT_EQ(print_module(choose(program, SyncMode::automatic).plan),
            print_module(choose(program, SyncMode::automatic).plan));
}

TEST(SyncUnits, LoopsAndProductsSeparateThem) {
  const SyncUnits units(example("hits.ks"));
  int inside = 0;
  for (int u = 0; u < units.count(); ++u) inside += units.unit(u).loop.line > 0 ? 1 : 0;
  EXPECT_EQ(inside, 2);  // hubs and authorities
  const Module pagerank = example("pagerank.ks");
  const SyncUnits one(pagerank);
  int loops = 0;
  for (int u = 0; u < one.count(); ++u) loops += one.unit(u).loop.line > 0 ? 1 : 0;
  EXPECT_EQ(loops, 1);
}

// Reads of one row do not make up for work of another: each takes the slower of both.
TEST(Price, DominanceIsByRow) {
  const Polynomial n(Symbol{SymbolKind::size, "N", {}, -1});
  Work exps, more;
  exps.operations[static_cast<size_t>(ScalarWork::exp)] = n;
  more.operations[static_cast<size_t>(ScalarWork::exp)] = n + n;
  PricePolynomials apart, together;
  apart.rows = {{n, n, {}}, {Polynomial(), Polynomial(), exps}};
  together.rows = {{n, n, exps}};
  EXPECT_TRUE(never_dearer(together, apart, {}));
  EXPECT_FALSE(never_dearer(apart, together, {}));
  EXPECT_TRUE(never_dearer(apart, apart, {}));
  PricePolynomials longer;
  longer.rows = {{n, n, more}};
  EXPECT_TRUE(never_dearer(together, longer, {}));
  EXPECT_FALSE(never_dearer(longer, together, {}));
}

TEST(Price, DominanceHoldsForAllSizes) {
  PricePolynomials a, b;
  const Polynomial p(Symbol{SymbolKind::workers, "", {}, -1}), n(Symbol{SymbolKind::size, "N", {}, -1});
  a.rows = {{n, n, {}}};
  b.rows = {{n + n, n, {}}};
  EXPECT_TRUE(never_dearer(a, b, {}));
  EXPECT_FALSE(never_dearer(b, a, {}));
  a.network = p - Polynomial(1);  // nothing for one worker, never less
  EXPECT_FALSE(never_dearer(a, b, {}));
  b.network = p + p - Polynomial(2);
  EXPECT_TRUE(never_dearer(a, b, {}));
}

}  // namespace
}  // namespace kasen
