// The state rules over meshes of workers: whatever they allow, workers that have what the states say compute the
// program. Random modules of arrays of rank 0 to 3, of all layouts, on meshes of up to three axes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "libcore/analysis/boxes.h"
#include "tests/core/mesh_module.h"

namespace kasen {
namespace {

using testing::MeshRun;
using testing::RandomModule;

// Stand for rules: contractions onto arrays, reductions by keys, slices and the like, reshapes that keep owners.
constexpr int onto_array = 100, by_keys = 101, rearranged = 102, moved = 103, picked = 104, carried = 105, kept = 106,
              repeated = 107;

// Adds how often each rule has allowed an operator.
void try_one(std::uint64_t seed, std::map<int, int>& rules) {
  RandomModule random(seed);
  random.make_program();
  for (const auto& [rule, count] : random.rules()) rules[rule] += count;
  rules[onto_array] += random.ontos();
  rules[by_keys] += random.groups();
  rules[rearranged] += random.rearranged();
  rules[moved] += random.moved();
  rules[picked] += random.picks();
  rules[carried] += random.carried();
  rules[kept] += random.kept();
  rules[repeated] += random.repeated();
  const std::string text = print_module(random.module());
  SCOPED_TRACE(text);
  Module module = parse_module(text, "random.kir");
  EXPECT_EQ(print_module(module), text);
  for (const DimId dim : module.dims.ids()) module.dims[dim].size = random.module().dim(dim).size;  // also picked ones
  TrialLawChecker laws;
  for (const Diagnostic& fault : verify_module(module, laws)) ADD_FAILURE() << format_diagnostic(fault);
  if (::testing::Test::HasFailure()) return;
  const auto wanted = interpret(module, whole_of(random));
  try {
    const MeshRun run(module, random.inputs());
    for (const Op& op : module.body.ops) {
      if (op.code != OpCode::output) continue;
      const MeshRun::Whole got = run.value(op.operands[0]);
      const Array& right = wanted.at(op.name);
      EXPECT_EQ(static_cast<std::int64_t>(got.size()), right.count);
      const auto* numbers = reinterpret_cast<const double*>(right.plane(0));
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(testing::are_same(got[i], numbers[i]))
            << op.name << '[' << i << "] " << got[i] << ", not " << numbers[i];
    }
  } catch (const std::logic_error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(MeshRules, WhatTheyAllowComputesTheProgram) {
  std::map<int, int> rules;
  for (std::uint64_t seed = 1; seed <= 4000 && !::testing::Test::HasFailure(); ++seed) try_one(seed, rules);
  for (int rule = 1; rule <= 16; ++rule) EXPECT_GT(rules[rule], 10) << "rule " << rule;
  EXPECT_GT(rules[18], 100);
  EXPECT_GT(rules[onto_array], 100);
  EXPECT_GT(rules[by_keys], 100);
  EXPECT_GT(rules[rearranged], 100);
  EXPECT_GT(rules[moved], 100);
  EXPECT_GT(rules[picked], 100);
  EXPECT_GT(rules[carried], 100);
  EXPECT_GT(rules[kept], 10);
  EXPECT_GT(rules[repeated], 20);
}

// Products over three axes, whose operands are held along different ones: allowed where both have the same indices of
// K, and then right. Random modules have them too seldom.
TEST(MeshRules, PartsThatAreHeldAlikeAreMultiplied) {
  const char* const text = R"(kir 2 level 2
module cubes {
  mesh a = %A, b = %B, c = %C
  dim N
  dim K
  dim M
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  %A = input "A" : f64[N/a,K/bc] @part
  %B = input "B" : f64[K/ac,M/b] @part
  %As = scatter %A : f64[N/a,K/bc] @cons{b}
  %Bs = scatter %B : f64[K/ac,M/b] @cons{a}
  %t = contract[mul, add; ij, jk -> ik] %As, %Bs : f64[N/a,M/bc] @pre(add){c}
  %g = gather %t : f64[N/a,M/bc] @part
  output "C" %g
}
##end
)";
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    std::array<int, 3> mesh{}, sizes{};
    std::string filled = text;
    for (std::size_t i = 0; i < 3; ++i) {
      mesh.at(i) = std::uniform_int_distribution<int>(1, 3)(random);
      sizes.at(i) = std::uniform_int_distribution<int>(1, 9)(random);
      const std::string mark = std::string("= %") + "ABC"[i];
      filled.replace(filled.find(mark), mark.size(), "= " + std::to_string(mesh.at(i)));
    }
    Module module = parse_module(filled, "cubes.kir");
    TrialLawChecker laws;
    const std::vector<Diagnostic> faults = verify_module(module, laws);
    const bool same = mesh[0] == mesh[1] || mesh[2] == 1;
    EXPECT_EQ(faults.empty(), same) << filled;
    if (!same || ::testing::Test::HasFailure()) continue;
    for (std::size_t i = 0; i < 3; ++i) module.dims[DimId(static_cast<int>(i))].size = sizes.at(i);
    std::map<std::string, MeshRun::Whole> inputs{{"A", MeshRun::Whole(static_cast<std::size_t>(sizes[0] * sizes[1]))},
                                                 {"B", MeshRun::Whole(static_cast<std::size_t>(sizes[1] * sizes[2]))}};
    for (auto& [name, numbers] : inputs) {
      for (double& number : numbers) number = std::uniform_int_distribution<int>(-9, 9)(random);
    }
    const MeshRun run(module, inputs);
    const MeshRun::Whole got = run.value(module.body.ops.back().operands[0]);
    for (int n = 0; n < sizes[0]; ++n) {
      for (int m = 0; m < sizes[2]; ++m) {
        double wanted = 0;
        for (int k = 0; k < sizes[1]; ++k) {
          wanted += inputs.at("A")[static_cast<std::size_t>(n * sizes[1] + k)] *
                    inputs.at("B")[static_cast<std::size_t>(k * sizes[2] + m)];
        }
        EXPECT_EQ(got.at(static_cast<std::size_t>(n * sizes[2] + m)), wanted) << filled;
      }
    }
  }
}

// Pieces of pieces, all of them along held axes: what an axis part means, in a few lines of its own.
std::vector<std::int64_t> indices_at(const Module& module, std::int64_t size, MeshAxes cuts, MeshAxes held,
                                     int worker) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs{{0, size}};
  std::int64_t after = 1;
  for (const MeshAxis& axis : module.mesh) after *= axis.size;
  for (size_t axis = 0; axis < module.mesh.size(); ++axis) {
    const std::int64_t places = module.mesh[axis].size;
    after /= places;
    if ((cuts >> axis & 1) == 0) continue;
    std::vector<std::pair<std::int64_t, std::int64_t>> finer;
    for (const auto& [first, last] : runs) {
      std::int64_t begin = first;
      for (std::int64_t place = 0; place < places; ++place) {
        const std::int64_t end = begin + (last - first) / places + (place < (last - first) % places ? 1 : 0);
        if ((held >> axis & 1) != 0 || worker / after % places == place) finer.emplace_back(begin, end);
        begin = end;
      }
    }
    runs = finer;
  }
  std::vector<std::int64_t> indices;
  for (const auto& [first, last] : runs) {
    for (std::int64_t i = first; i < last; ++i) indices.push_back(i);
  }
  return indices;
}

// The same where blocks are dealt out: one index at a time.
std::vector<std::int64_t> dealt_to(const Module& module, std::int64_t size, AxisCut cut, MeshAxes held, int worker) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t block = i / cut.block;
    bool has = true;
    for (size_t axis = 0; axis < module.mesh.size(); ++axis) {
      if ((cut.axes >> axis & 1) == 0) continue;
      const std::int64_t place = block % module.mesh[axis].size;
      has = has && ((held >> axis & 1) != 0 || place == mesh_place(module, worker, axis));
      block /= module.mesh[axis].size;
    }
    if (has) indices.push_back(i);
  }
  return indices;
}

std::vector<std::int64_t> indices_at(const Module& module, std::int64_t size, AxisCut cut, MeshAxes held, int worker) {
  return cut.block > 0 && cut.axes != 0 ? dealt_to(module, size, cut, held, worker)
                                        : indices_at(module, size, cut.axes, held, worker);
}

// Parts have the indices that their cuts say, and those that are equal have the same ones on every worker.
// Each worker would sum over the indices that are in both of its parts, which are no block.
TEST(MeshRules, OneSummedDimensionIsNotCutOverDifferentAxes) {
  for (const std::string cut : {"b", "b:1", "a"}) {
    const std::string held = cut == "a" ? "b" : "a";
    const Module module = parse_module(fmt::format(R"(kir 2 level 2
module apart {{
  mesh a = 1, b = 1
  dim K = 5
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  %x = input "x" : f64[K/a] @part
  %y = input "y" : f64[K/{0}] @part
  %xs = scatter %x : f64[K/a] @cons{{b}}
  %ys = scatter %y : f64[K/{0}] @cons{{{1}}}
  %t = contract[mul, add; k, k ->] %xs, %ys : f64 @pre(add){2}
  %g = gather %t : f64 @part
  output "t" %g
}}
##end
)",
                                                   cut, held, cut == "a" ? "{a}" : ""),
                                       "apart.kir");
    TrialLawChecker laws;
    const std::vector<Diagnostic> faults = verify_module(module, laws);
    if (cut == "a") {
      EXPECT_TRUE(faults.empty()) << format_diagnostic(faults[0]);
      continue;
    }
    ASSERT_FALSE(faults.empty()) << cut;
    EXPECT_NE(faults[0].why.find("over different axes"), std::string::npos) << format_diagnostic(faults[0]);
  }
}

TEST(MeshRules, PartsThatAreEqualHaveTheSameIndices) {
  std::mt19937 random(3);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  int equal = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Module module;
    module.mesh = {{"a", 1 + below(3)}, {"b", 1 + below(3)}, {"c", 1 + below(3)}, {"d", 1 + below(2)}};
    const DimId dim = module.dims.push_back({"N", false, 1 + below(40)});
    std::array<AxisCut, 2> cuts{};
    std::array<MeshAxes, 2> held{};
    const int block = below(2) * (1 + below(5));
    for (size_t i = 0; i < 2; ++i) {
      cuts.at(i) = {static_cast<MeshAxes>(below(16)), block};
      held.at(i) = cuts.at(i).axes & static_cast<MeshAxes>(below(16));
    }
    const AxisPart one = axis_part(module, dim, cuts[0], held[0]), other = axis_part(module, dim, cuts[1], held[1]);
    equal += one == other && cuts[0] != cuts[1] ? 1 : 0;
    for (int worker = 0; worker < mesh_workers(module); ++worker) {
      std::vector<std::int64_t> indices;
      for (const IndexRun& run : runs_of(module, one, worker)) {
        for (std::int64_t i = run.first; i < run.first + run.count; ++i) indices.push_back(i);
      }
      const std::int64_t size = module.dim(dim).size;
      ASSERT_EQ(indices, indices_at(module, size, cuts[0], held[0], worker)) << trial;
      if (one == other) {
        ASSERT_EQ(indices, indices_at(module, size, cuts[1], held[1], worker)) << trial;
      }
    }
  }
  EXPECT_GT(equal, 100);
  Module module;
  module.mesh = {{"a", 2}, {"b", 2}, {"c", 3}};
  const DimId dim = module.dims.push_back({"N", false, 100});
  EXPECT_EQ(axis_part(module, dim, {0b110}, 0b010), axis_part(module, dim, {0b101}, 0b001))
      << "N/bc held along b, N/ac along a";
  EXPECT_NE(axis_part(module, dim, {0b110}, 0b010), axis_part(module, dim, {0b100}, 0)) << "N/c";
}

TEST(LongMeshRules, WhatTheyAllowComputesTheProgram) {
  std::map<int, int> rules;
  for (std::uint64_t seed = 1; seed <= 100000 && !::testing::Test::HasFailure(); ++seed) try_one(seed * 7919, rules);
}

}  // namespace
}  // namespace kasen
